"""Single objects: made, read, changed, refused and removed as the real API server does it."""

from __future__ import annotations

import httpx
import pytest
from kubernetes import client

from tests.devkube.embedded.kit import Kube, container, deployment, job, pod

CONFIG = {"metadata": {"name": "settings"}, "data": {"a": "1"}}


def test_gives_a_new_object_its_identity_and_returns_it(kube: Kube) -> None:
    made = kube.make("configmaps", CONFIG)
    about = made["metadata"]
    assert (made["kind"], made["apiVersion"], about["namespace"], made["data"]) == (
        "ConfigMap",
        "v1",
        kube.space,
        {"a": "1"},
    )
    assert len(about["uid"]) == 36
    assert about["creationTimestamp"].endswith("Z")
    assert int(about["resourceVersion"]) > 0


def test_refuses_a_second_object_of_the_same_name(kube: Kube) -> None:
    kube.make("configmaps", CONFIG)
    answer = kube.post(kube.path("configmaps"), CONFIG)
    assert (answer.status_code, answer.json()) == (
        409,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": 'configmaps "settings" already exists',
            "reason": "AlreadyExists",
            "details": {"name": "settings", "kind": "configmaps"},
            "code": 409,
        },
    )


def test_makes_up_names_from_a_prefix(kube: Kube) -> None:
    names = {kube.make("configmaps", {"metadata": {"generateName": "x-"}})["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("x-") and len(name) == 7 for name in names)


def test_says_what_is_not_there(kube: Kube) -> None:
    answer = kube.http.get(kube.path("jobs", "none"))
    assert (answer.status_code, answer.json()["message"]) == (404, 'jobs.batch "none" not found')
    assert answer.json()["details"] == {"name": "none", "group": "batch", "kind": "jobs"}
    assert kube.http.get("/apis/nope.io/v1/things").status_code == 404


def test_refuses_to_write_over_a_newer_version(kube: Kube) -> None:
    old = kube.make("configmaps", CONFIG)
    new = kube.http.put(kube.path("configmaps", "settings"), json={**old, "data": {"a": "2"}})
    stale = kube.http.put(kube.path("configmaps", "settings"), json={**old, "data": {"a": "3"}})
    assert (new.status_code, stale.status_code, stale.json()["reason"]) == (200, 409, "Conflict")
    assert "the object has been modified; please apply your changes to the latest version" in stale.json()["message"]


def test_leaves_the_version_alone_when_nothing_changes(kube: Kube) -> None:
    old = kube.make("configmaps", CONFIG)
    again = kube.http.put(kube.path("configmaps", "settings"), json=old)
    assert (again.status_code, again.json()) == (200, old)


def test_counts_generations_by_changes_of_the_spec_only(kube: Kube) -> None:
    kube.make("jobs", job("counted", suspend=True))
    path = kube.path("jobs", "counted")
    labelled = kube.patch(path, {"metadata": {"labels": {"a": "b"}}}).json()
    widened = kube.patch(path, {"spec": {"parallelism": 2}}).json()
    stated = kube.patch(f"{path}/status", {"status": {"ready": 1}, "spec": {"parallelism": 9}}).json()
    assert [each["metadata"]["generation"] for each in (labelled, widened, stated)] == [1, 2, 2]
    assert stated["spec"]["parallelism"] == 2


def test_a_dry_run_answers_in_full_and_keeps_nothing(kube: Kube) -> None:
    tried = kube.make("jobs", job("maybe"), dryRun="All")
    assert (tried["spec"]["backoffLimit"], "resourceVersion" in tried["metadata"]) == (6, False)
    assert kube.gone("jobs", "maybe")
    assert kube.make("jobs", job("maybe"))["metadata"]["uid"] != tried["metadata"]["uid"]
    assert kube.post(kube.path("jobs"), job("x"), dryRun="Some").status_code == 422


def test_strict_validation_names_unknown_and_repeated_fields(kube: Kube) -> None:
    body = job("odd")
    body["spec"]["retries"] = 3
    answer = kube.post(kube.path("jobs"), body, fieldValidation="Strict")
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        'Job in version "v1" cannot be handled as a Job: strict decoding error: unknown field "spec.retries"',
    )
    twice = b'{"metadata":{"name":"a","name":"b"}}'
    repeated = kube.http.post(kube.path("configmaps"), content=twice, params={"fieldValidation": "Strict"})
    assert 'duplicate field "metadata.name"' in repeated.json()["message"]


def test_drops_unknown_fields_with_a_warning_by_default(kube: Kube) -> None:
    answer = kube.post(kube.path("configmaps"), {**CONFIG, "colour": "red"})
    assert (answer.status_code, answer.headers["warning"]) == (201, '299 - "unknown field \\"colour\\""')
    assert "colour" not in answer.json()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (pod("UPPER"), 'metadata.name: Invalid value: "UPPER": a lowercase RFC 1123 subdomain must consist of'),
        (pod("p", containers=[]), "spec.containers: Required value"),
        (pod("p", containers=[{"name": "c"}]), "spec.containers[0].image: Required value"),
        (
            pod("p", containers=[container(resources={"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}})]),
            'resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
        ),
        (
            pod(
                "p",
                containers=[container(resources={"limits": {"nvidia.com/gpu": 4}, "requests": {"nvidia.com/gpu": 1}})],
            ),
            'Invalid value: "1": must be equal to nvidia.com/gpu limit of 4',
        ),
        (
            pod("p", containers=[container(resources={"requests": {"nvidia.com/gpu": 1}})]),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            pod("p", containers=[container(volumeMounts=[{"name": "none", "mountPath": "/d"}])]),
            'spec.containers[0].volumeMounts[0].name: Not found: "none"',
        ),
    ],
)
def test_refuses_a_wrong_pod_naming_the_field(kube: Kube, body: dict[str, object], said: str) -> None:
    answer = kube.post(kube.path("pods"), body)
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert said in answer.json()["message"]
    assert answer.json()["details"]["causes"]


def test_a_pod_gets_the_defaults_of_the_real_server(kube: Kube) -> None:
    body = kube.make("pods", pod("plain", containers=[container(resources={"limits": {"cpu": "1000m"}})]))["spec"]
    chosen = ("restartPolicy", "terminationGracePeriodSeconds", "dnsPolicy", "priority", "preemptionPolicy")
    assert [body[key] for key in chosen] == ["Always", 30, "ClusterFirst", 0, "PreemptLowerPriority"]
    assert body["containers"][0]["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    assert {each["tolerationSeconds"] for each in body["tolerations"]} == {300}


def test_a_pod_of_an_unknown_priority_class_is_forbidden(kube: Kube) -> None:
    answer = kube.post(kube.path("pods"), pod("p", priorityClassName="none"))
    assert (answer.status_code, answer.json()["message"]) == (
        403,
        'pods "p" is forbidden: no PriorityClass with name none was found',
    )


def test_only_the_image_of_a_pod_may_change(kube: Kube) -> None:
    kube.make("pods", pod("fixed", nodeSelector={"no": "where"}))
    path = kube.path("pods", "fixed")
    new = {"spec": {"containers": [{"name": "main", "image": "busybox:2"}]}}
    assert kube.patch(path, new, "strategic").json()["spec"]["containers"][0]["image"] == "busybox:2"
    refused = kube.patch(path, {"spec": {"hostNetwork": True}})
    assert refused.status_code == 422
    assert "pod updates may not change fields other than" in refused.json()["message"]


def test_knows_the_three_plain_patches(kube: Kube) -> None:
    kube.make("deployments", deployment("patched", paused=True))
    path = kube.path("deployments", "patched")
    merged = kube.patch(path, {"metadata": {"labels": {"a": "1"}}}).json()
    assert merged["metadata"]["labels"] == {"a": "1"}
    steps = [{"op": "add", "path": "/metadata/labels/b", "value": "2"}, {"op": "remove", "path": "/metadata/labels/a"}]
    assert kube.patch(path, steps, "json").json()["metadata"]["labels"] == {"b": "2"}
    env = {"spec": {"template": {"spec": {"containers": [{"name": "main", "env": [{"name": "X", "value": "1"}]}]}}}}
    first = kube.patch(path, env, "strategic").json()["spec"]["template"]["spec"]["containers"][0]
    assert (first["image"], first["env"]) == ("busybox:1", [{"name": "X", "value": "1"}])
    assert kube.patch(path, [{"op": "test", "path": "/kind", "value": "x"}], "json").status_code == 422


def test_apply_creates_merges_and_gives_fields_back(kube: Kube) -> None:
    path, about = kube.path("configmaps", "applied"), {"apiVersion": "v1", "kind": "ConfigMap"}
    made = kube.patch(path, {**about, "data": {"a": "1", "b": "2"}}, "apply", fieldManager="one")
    assert (made.status_code, made.json()["data"]) == (201, {"a": "1", "b": "2"})
    again = kube.patch(path, {**about, "data": {"a": "1"}}, "apply", fieldManager="one")
    assert (again.status_code, again.json()["data"]) == (200, {"a": "1"})
    other = kube.patch(path, {**about, "data": {"a": "9"}}, "apply", fieldManager="two")
    assert (other.status_code, 'conflict with "one": .data.a' in other.json()["message"]) == (409, True)
    forced = kube.patch(path, {**about, "data": {"a": "9"}}, "apply", fieldManager="two", force="true")
    assert forced.json()["data"] == {"a": "9"}
    assert kube.patch(path, about, "apply").status_code == 422


def test_scales_through_the_subresource(kube: Kube) -> None:
    kube.make("deployments", deployment("scaled", paused=True))
    path = f"{kube.path('deployments', 'scaled')}/scale"
    assert kube.http.get(path).json()["spec"] == {"replicas": 2}
    assert kube.patch(path, {"spec": {"replicas": 5}}).json()["spec"] == {"replicas": 5}
    assert kube.get("deployments", "scaled")["spec"]["replicas"] == 5
    assert kube.patch(path, {"spec": {"replicas": -1}}).status_code == 422


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"labelSelector": "tier=front"}, ["a"]),
        ({"labelSelector": "tier in (front, back),!old"}, ["a", "b"]),
        ({"labelSelector": "tier notin (front)"}, ["b", "c"]),
        ({"labelSelector": "old"}, ["c"]),
        ({"labelSelector": "tier!=back"}, ["a", "c"]),
        ({"fieldSelector": "metadata.name=b"}, ["b"]),
        ({"fieldSelector": "status.phase!=Pending"}, []),
        ({"fieldSelector": "spec.nodeName="}, ["a", "b", "c"]),
    ],
)
def test_selects_by_labels_and_fields(kube: Kube, query: dict[str, str], names: list[str]) -> None:
    for name, labels in (("a", {"tier": "front"}), ("b", {"tier": "back"}), ("c", {"old": "yes"})):
        kube.make("pods", pod(name, labels=labels, nodeSelector={"no": "where"}))
    assert [each["metadata"]["name"] for each in kube.list("pods", **query)] == names


def test_refuses_selectors_it_cannot_answer(kube: Kube) -> None:
    for query in ({"labelSelector": "a in"}, {"fieldSelector": "spec.colour=red"}, {"labelSelector": "a=\x00"}):
        assert kube.http.get(kube.path("pods"), params=query).status_code == 400


def test_pages_show_one_moment(kube: Kube) -> None:
    for number in range(5):
        kube.make("configmaps", {"metadata": {"name": f"c{number}"}})
    first = kube.http.get(kube.path("configmaps"), params={"limit": 2}).json()
    kube.remove(kube.path("configmaps", "c3"))
    query = {"limit": 10, "continue": first["metadata"]["continue"]}
    rest = kube.http.get(kube.path("configmaps"), params=query).json()
    assert first["metadata"]["remainingItemCount"] == 3
    assert [each["metadata"]["name"] for each in (*first["items"], *rest["items"])] == ["c0", "c1", "c2", "c3", "c4"]
    assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}


def test_an_old_page_is_gone_and_a_made_up_one_is_bad(kube: Kube) -> None:
    old = kube.http.get(kube.path("pods"), params={"limit": 1, "continue": "djE6MTphYmM="})
    bad = kube.http.get(kube.path("pods"), params={"limit": 1, "continue": "%%%"})
    assert (old.status_code, old.json()["reason"], bad.status_code) == (410, "Expired", 400)


def test_removes_a_collection_by_selector(kube: Kube) -> None:
    for name in ("a", "b", "c"):
        kube.make("configmaps", {"metadata": {"name": name, "labels": {"n": name}}})
    answer = kube.http.delete(kube.path("configmaps"), params={"labelSelector": "n in (a,b)"})
    assert [each["metadata"]["name"] for each in answer.json()["items"]] == ["a", "b"]
    assert [each["metadata"]["name"] for each in kube.list("configmaps")] == ["c"]


def test_a_finalizer_holds_an_object_until_it_is_taken_away(kube: Kube) -> None:
    kube.make("configmaps", {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}})
    path = kube.path("configmaps", "held")
    assert "deletionTimestamp" in kube.remove(path).json()["metadata"]
    more = kube.patch(path, {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
    assert (more.status_code, "no new finalizers can be added" in more.json()["message"]) == (422, True)
    kube.patch(path, {"metadata": {"finalizers": None}})
    assert kube.gone("configmaps", "held")


def test_a_precondition_protects_the_successor(kube: Kube) -> None:
    kube.make("configmaps", CONFIG)
    answer = kube.remove(kube.path("configmaps", "settings"), {"preconditions": {"uid": "another"}})
    assert (answer.status_code, kube.gone("configmaps", "settings")) == (409, False)


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"metadata":{"name":"a\\u0000b"}}', "application/json", 422),
        (b'{"metadata":{"name":"x"},"data":{"k":"\\ud800"}}', "application/json", 400),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "application/json", 400),
        (b"x" * (3 * 1024 * 1024 + 1), "application/json", 413),
        (b"k8s\x00", "application/vnd.kubernetes.protobuf", 415),
        (b"metadata: {name: from-yaml}", "application/yaml", 201),
    ],
)
def test_hostile_and_odd_bodies_get_a_clear_answer(kube: Kube, content: bytes, kind: str, code: int) -> None:
    answer = kube.http.post(kube.path("configmaps"), content=content, headers={"content-type": kind})
    assert (answer.status_code, answer.json()["kind"]) == (code, "Status" if code > 201 else "ConfigMap")


def test_wants_the_token(kube: Kube) -> None:
    for header in ("", "Bearer wrong", "Basic eA==", "Bearer \xff"):
        headers = {b"authorization": header.encode("latin-1")}
        answer = httpx.get(kube.http.base_url.join("/api/v1/pods"), headers=headers, trust_env=False)
        assert (answer.status_code, answer.json()["message"]) == (401, "Unauthorized")


def test_discovery_tells_kubectl_and_the_client_what_there_is(kube: Kube, official: client.ApiClient) -> None:
    assert client.VersionApi(official).get_code().git_version == "v1.37.2"
    groups = {group.name for group in client.ApisApi(official).get_api_versions().groups}
    assert {"apps", "batch", "policy", "coordination.k8s.io", "apiextensions.k8s.io"} <= groups
    names = {each.name for each in client.CoreV1Api(official).get_api_resources().resources}
    assert {"pods", "pods/log", "pods/exec", "pods/eviction", "nodes/status", "namespaces"} <= names
    review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec())
    answer = client.AuthorizationV1Api(official).create_self_subject_access_review(review)
    assert answer.status is not None
    assert answer.status.allowed
    assert kube.http.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").json()["items"] == []
    assert kube.http.get("/readyz").text == "ok"


def test_methods_that_are_not_there(kube: Kube) -> None:
    assert kube.http.post(kube.path("pods", "x"), json={}).status_code == 405
    assert kube.http.delete("/api/v1/pods").status_code == 405
    assert kube.http.put("/version", json={}).status_code in (200, 405)


def test_draws_tables_for_kubectl(kube: Kube) -> None:
    kube.make("pods", pod("shown", nodeSelector={"no": "where"}))
    headers = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    answer = kube.http.get(kube.path("pods"), headers=headers).json()
    assert [each["name"] for each in answer["columnDefinitions"]] == [
        *("Name", "Ready", "Status", "Restarts", "Node", "Age")
    ]
    assert answer["rows"][0]["cells"][:5] == ["shown", "0/1", "Pending", "0", "<none>"]


def test_a_service_keeps_its_address(kube: Kube) -> None:
    body = {"metadata": {"name": "front"}, "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}}}
    made = kube.make("services", body)["spec"]
    assert made["clusterIP"].startswith("10.96.")
    assert made["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    again = kube.http.put(kube.path("services", "front"), json=body)
    assert (again.status_code, again.json()["spec"]["clusterIP"]) == (200, made["clusterIP"])
    moved = kube.patch(kube.path("services", "front"), {"spec": {"clusterIP": "10.96.200.200"}})
    assert moved.status_code == 422
