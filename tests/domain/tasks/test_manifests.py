"""What we send to a cluster (domain.md §§2, 4, 8, 10): golden files after Seed A's samples; every spec by schema."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.clusters.domain.marks import MarkFacts
from apps.clusters.domain.profile import ClusterProfile, Preference
from apps.kernel.errors import Refusal, Refused
from apps.kernel.resources import MiB, Millicores
from apps.tasks.domain.imported import manifest_refusal
from apps.tasks.domain.spec import DatasetMount, KindName, Port, Priority, ResourceRequest, TaskSpec
from apps.tasks.domain.splitting import split
from apps.tasks.kinds.base import ManifestInput
from apps.tasks.kinds.pod_template import shape
from apps.tasks.kinds.registry import KINDS
from tests.support.specs import (
    RTX_4090,
    a_container,
    a_cpu_container,
    a_gpu_spec,
    a_spec,
    given_for,
    specs,
)

GOLDEN = Path(__file__).parent / "golden"
KUBERNETES = "1.37"
SEED_CARD = MarkFacts(
    "rtx-4090",
    "nvidia.com/gpu",
    8,
    Millicores(28_000),
    MiB(102_400),
    {"nvidia.com/gpu.product": "NVIDIA-GeForce-RTX-4090"},
)
SEED_PROFILE = ClusterProfile(
    scheduler_name="requested-to-capacity-ratio-custom-scheduler",
    annotations={
        "proxy.istio.io/config": 'drainDuration: 120s\nterminationDrainDuration: "120s"\n'
        "holdApplicationUntilProxyStarts: true\n",
        "quota.k8s.io/enabled": "true",
        "quota.k8s.io/ephemeral-storage": "50Gi",
        "quota.k8s.io/project-id": "auto",
        "sidecar.istio.io/rewriteAppHTTPProbers": "false",
    },
    preferences=(
        Preference("kubernetes.io/role", "In", ("node",), 80),
        Preference("gongjiyun.com/can-be-used-develop", "NotIn", ("true",), 20),
    ),
    pre_stop_seconds=120,
    priority_classes={"normal": "default-pc"},
)


def render(given_input: ManifestInput) -> list[dict[str, Any]]:
    return [dict(manifest) for manifest in KINDS[given_input.spec.kind].manifests(given_input)]


def seed_a_job() -> ManifestInput:
    """Seed A's Job ``pi``: two containers by weight on 20 cores and 101 GiB of two cards."""
    spec = a_spec(
        display_name="pi",
        containers=(
            a_cpu_container(
                "pi", cpu=14_000, memory=51_200, image="harbor.suanleme.cn/huang5876/jupyter-tf1.15-gpu:v3.0"
            ),
            a_cpu_container("pi2", cpu=9_333, memory=4_200, image="harbor.suanleme.cn/library/cuda:debugv4"),
        ),
        resources=ResourceRequest("rtx-4090", 2, 1),
        backoff_limit=4,
    )
    card = dataclasses.replace(RTX_4090, cpu_per_card=Millicores(10_000), memory_per_card=MiB(51_712))
    return given_for(spec, object_name="pi-abcdefgh", mark=card)


def seed_a_deployment() -> ManifestInput:
    """Seed A's Deployment: two containers, a dataset, shared memory, preStop and the cluster's own preferences."""
    spec = a_spec(
        KindName.DEPLOYMENT,
        display_name="test11-12",
        containers=(
            a_container("container1", image="harbor.suanleme.cn/library/fluentd:1.81", ports=(Port(7860),)),
            a_container("container2", image="harbor.suanleme.cn/library/nginx:v1.20", ports=(Port(80),)),
        ),
        resources=ResourceRequest("rtx-4090", 2, 1),
        datasets=(DatasetMount("s3-12-47177-dataset", "/data", read_only=False),),
        shm=MiB(80),
        labels={"gongjiyun.com/task-type": "deployment"},
    )
    return given_for(spec, object_name="test11-12-abcdefgh", mark=SEED_CARD, profile=SEED_PROFILE)


SAMPLES = {"seed_a_job": seed_a_job, "seed_a_deployment": seed_a_deployment}


@pytest.mark.parametrize("name", SAMPLES)
def test_seed_a_its_samples_are_rendered_where_they_obey_kubernetes(name: str) -> None:
    golden = list(yaml.safe_load_all((GOLDEN / f"{name}.yaml").read_text()))
    found = render(SAMPLES[name]())
    for manifest in found:
        assert len(manifest["metadata"]["annotations"].pop("platform/shape")) == 16
    assert found == golden


@settings(max_examples=60, deadline=None)
@given(spec=specs(), paused=st.booleans(), pool=st.sampled_from(["", "public"]), restarts=st.integers(0, 2))
def test_every_manifest_passes_the_schema_and_our_own_validator(
    spec: TaskSpec, paused: bool, pool: str, restarts: int
) -> None:
    given_input = given_for(spec, paused=paused, pool=pool, restart_count=restarts, profile=SEED_PROFILE)
    if isinstance(split(spec.containers, spec.resources, given_input.mark), Refusal):
        with pytest.raises(Refused):
            render(given_input)
        return
    for manifest in render(given_input):
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    assert manifest_refusal(render(given_input)[0]) is None


@given(specs())
def test_a_selector_matches_its_own_pods_labels_and_no_other_attempts(spec: TaskSpec) -> None:
    given_input = given_for(dataclasses.replace(spec, kind=KindName.DEPLOYMENT, containers=(a_cpu_container(),)))
    deployment, other = render(given_input)[0], render(dataclasses.replace(given_input, attempt=2))[0]
    wanted = deployment["spec"]["selector"]["matchLabels"].items()
    assert wanted <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert not wanted <= other["spec"]["template"]["metadata"]["labels"].items()


def pod(given_input: ManifestInput) -> dict[str, Any]:
    found: dict[str, Any] = render(given_input)[0]["spec"]["template"]["spec"]
    return found


def node_terms(given_input: ManifestInput) -> list[list[dict[str, Any]]]:
    required = pod(given_input)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return [term["matchExpressions"] for term in required["nodeSelectorTerms"]]


POOL = {"key": "platform/pool", "operator": "In", "values": ["public"]}
CARD = {"key": "nvidia.com/gpu.product", "operator": "In", "values": ["NVIDIA-GeForce-RTX-4090"]}


def test_no_term_of_the_users_affinity_leads_out_of_the_pool() -> None:
    mine = [{"key": "zone", "operator": "In", "values": [zone]} for zone in ("a", "b")]
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]} for expression in mine]}
    advanced = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}
    found = node_terms(given_for(a_gpu_spec(advanced=advanced)))
    assert found == [[POOL, CARD, mine[0]], [POOL, CARD, mine[1]]]


def test_cpu_pods_stay_off_nodes_with_cards() -> None:
    assert node_terms(given_for(a_spec())) == [[POOL, {"key": "platform/mark", "operator": "DoesNotExist"}]]


def test_a_preview_without_a_pool_demands_no_node() -> None:
    assert "affinity" not in pod(given_for(a_spec(), pool=""))


def test_planned_nodes_are_preferred_above_all_and_not_demanded() -> None:
    profile = ClusterProfile(preferences=(Preference("ssd", "Exists", weight=10),))
    found = pod(given_for(a_spec(), planned_nodes=("n1", "n2"), profile=profile))["affinity"]["nodeAffinity"]
    assert found["preferredDuringSchedulingIgnoredDuringExecution"] == [
        {"weight": 10, "preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}},
        {
            "weight": 100,
            "preference": {
                "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1", "n2"]}]
            },
        },
    ]


def test_the_users_wishes_beside_placement_are_passed_on() -> None:
    advanced = {
        "node_selector": {"disk": "nvme"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"a": 1}},
        "host_aliases": [{"ip": "::1", "hostnames": ["a"]}],
        "annotations": {"note": "x"},
        "termination_grace_period_seconds": 5,
    }
    template = render(given_for(a_gpu_spec(advanced=advanced)))[0]["spec"]["template"]
    card = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    assert template["metadata"]["annotations"] == {"note": "x"}
    assert template["spec"]["tolerations"] == [{"operator": "Exists"}, card]
    assert template["spec"]["affinity"]["podAntiAffinity"] == {"a": 1}
    assert (template["spec"]["nodeSelector"], template["spec"]["hostAliases"]) == (
        {"disk": "nvme"},
        advanced["host_aliases"],
    )
    assert template["spec"]["terminationGracePeriodSeconds"] == 5


@pytest.mark.parametrize(
    ("pre_stop", "profile_pre_stop", "asked", "grace"),
    [
        (None, 0, None, None),
        (None, 120, None, 150),
        (10, 120, None, 40),
        (0, 120, None, None),
        (10, 0, 300, 300),
        (10, 0, 5, 40),
    ],
)
def test_the_grace_period_outlasts_the_pre_stop_pause_by_half_a_minute(
    pre_stop: int | None, profile_pre_stop: int, asked: int | None, grace: int | None
) -> None:
    advanced = {} if asked is None else {"termination_grace_period_seconds": asked}
    spec = a_spec(KindName.DEPLOYMENT, pre_stop_seconds=pre_stop, advanced=advanced)
    found = pod(given_for(spec, profile=ClusterProfile(pre_stop_seconds=profile_pre_stop)))
    assert found.get("terminationGracePeriodSeconds") == grace


@pytest.mark.parametrize("priority", Priority)
def test_each_priority_has_its_class_unless_the_cluster_names_another(priority: Priority) -> None:
    spec = a_spec(priority=priority, project="map-team")
    other = ClusterProfile(priority_classes={priority.value: "theirs"})
    assert pod(given_for(spec))["priorityClassName"] == f"platform-{priority.value}"
    assert pod(given_for(spec, profile=other))["priorityClassName"] == "theirs"


def test_a_gang_of_pods_is_an_indexed_job_with_its_deadline_on_the_run() -> None:
    job = render(given_for(a_spec(resources=ResourceRequest(nodes=4), max_runtime=3600), paused=True))[0]["spec"]
    assert {name: value for name, value in job.items() if name not in {"template", "podFailurePolicy"}} == {
        "backoffLimit": 0,
        "completions": 4,
        "parallelism": 4,
        "completionMode": "Indexed",
        "suspend": True,
        "activeDeadlineSeconds": 3600,
    }


def test_a_paused_deployment_has_no_replicas_and_keeps_its_service() -> None:
    spec = a_spec(
        KindName.DEPLOYMENT,
        containers=(a_cpu_container(ports=(Port(80, "http"), Port(81))),),
        resources=ResourceRequest(nodes=3),
        advanced={"max_surge": 1, "max_unavailable": "0%", "progress_deadline_seconds": 60},
    )
    deployment, service = render(given_for(spec, paused=True))
    assert deployment["spec"]["replicas"] == 0
    assert deployment["spec"]["progressDeadlineSeconds"] == 60
    assert deployment["spec"]["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": "0%"},
    }
    assert service["spec"]["ports"] == [
        {"name": "http", "port": 80, "targetPort": 80},
        {"name": "port-81", "port": 81, "targetPort": 81},
    ]


def test_a_restart_changes_the_template_and_nothing_else() -> None:
    spec = a_spec(KindName.DEPLOYMENT)
    before, after = render(given_for(spec))[0], render(given_for(spec, restart_count=1))[0]
    assert after["spec"]["template"]["metadata"].pop("annotations") == {"platform/restarts": "1"}
    assert after["metadata"]["annotations"].pop("platform/restarts") == "1"
    assert before["metadata"]["annotations"].pop("platform/restarts") == "0"
    assert before == after


@pytest.mark.parametrize(
    "change",
    [{"display_name": "b"}, {"resources": ResourceRequest(nodes=9)}, {"pending_timeout": 5}, {"min_available": 2}],
)
def test_f30_scale_and_name_are_no_part_of_the_shape(change: dict[str, Any]) -> None:
    assert shape(a_spec(**change)) == shape(a_spec())


@pytest.mark.parametrize(
    "change",
    [
        {"containers": (a_cpu_container(image="b"),)},
        {"priority": Priority.LOW},
        {"shm": MiB(64)},
        {"labels": {"a": "b"}},
    ],
)
def test_what_pods_are_made_of_is_the_shape(change: dict[str, Any]) -> None:
    assert shape(a_spec(**change)) != shape(a_spec())


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (a_spec(), []),
        (a_spec(min_available=1, pre_stop_seconds=5), ["min_available", "pre_stop_seconds"]),
        (a_spec(advanced={"max_surge": 1, "tolerations": []}), ["advanced.max_surge"]),
        (a_spec(KindName.DEPLOYMENT, min_available=1, pre_stop_seconds=5), []),
        (a_spec(KindName.DEPLOYMENT, max_runtime=5, backoff_limit=1), ["max_runtime", "backoff_limit"]),
        (a_spec(KindName.DEPLOYMENT, min_available=2), ["min_available"]),
    ],
)
def test_what_means_nothing_for_a_kind_is_refused_by_name(spec: TaskSpec, paths: list[str]) -> None:
    found = KINDS[spec.kind].spec_fault(spec)
    assert (list(found.fields) if found else []) == paths


def test_every_kind_that_can_be_named_works() -> None:
    assert set(KINDS) == set(KindName)
    assert all(KINDS[name].name is name for name in KINDS)


def test_a_spec_that_cannot_be_split_is_never_rendered() -> None:
    with pytest.raises(Refused, match="is needed when no card brings it along"):
        render(given_for(a_spec(containers=(a_container(),))))
