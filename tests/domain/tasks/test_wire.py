"""The task spec as JSON (rest.md; F04, F28, F29)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.errors import Code, Refusal
from apps.kernel.resources import MiB, Millicores
from apps.tasks.domain.spec import (
    ContainerSpec,
    DatasetMount,
    KindName,
    Port,
    Priority,
    ResourceRequest,
    TaskSpec,
    from_json,
    to_json,
)
from apps.tasks.domain.wire import merge_patch, parse_spec, replacement, to_wire
from tests.support.specs import a_gpu_spec, a_spec, specs


def wire(**changes: Any) -> dict[str, Any]:
    """The example of rest.md, changed."""
    container = {
        "name": "main",
        "image": "registry/train:1",
        "command": ["sh", "-c", "…"],
        "args": [],
        "env": {"A": "1"},
        "cpu": "4",
        "memory": "16Gi",
        "cards": None,
        "ports": [{"port": 8080, "name": "http"}],
    }
    example = {
        "kind": "Job",
        "display_name": "train-a",
        "project": "map-team",
        "priority": "normal",
        "resources": {"mark": "rtx-4090", "cards_per_node": 1, "nodes": 1},
        "containers": [container],
        "shm": "1Gi",
        "pending_timeout": "30m",
        "max_runtime": None,
        "on_preemption": "requeue",
        "labels": {},
        "advanced": {},
    }
    return {**example, **changes}


def with_container(**changes: Any) -> dict[str, Any]:
    return wire(containers=[{**wire()["containers"][0], **changes}])


def faults(data: object) -> dict[str, list[str]]:
    refusal = parse_spec(data)
    assert isinstance(refusal, Refusal), refusal
    assert refusal.code is Code.INVALID
    return {path: list(messages) for path, messages in refusal.fields.items()}


def test_the_example_of_the_contract_is_read() -> None:
    main = ContainerSpec(
        "main",
        "registry/train:1",
        ("sh", "-c", "…"),
        env={"A": "1"},
        cpu=Millicores(4000),
        memory=MiB(16_384),
        ports=(Port(8080, "http"),),
    )
    request = ResourceRequest("rtx-4090", 1, 1)
    assert parse_spec(wire()) == TaskSpec(KindName.JOB, "train-a", (main,), request, "map-team", shm=MiB(1024))


@given(specs())
def test_a_spec_reads_back_what_it_writes_on_the_wire_and_in_storage(spec: TaskSpec) -> None:
    assert parse_spec(to_wire(spec)) == spec
    assert from_json(to_json(spec)) == spec


def test_what_is_left_out_or_null_has_its_default() -> None:
    least = {"kind": "Job", "display_name": "a", "containers": [{"name": "main", "image": "a"}]}
    nulls = {name: None for name in wire() if name not in least}
    assert (
        parse_spec({**least, **nulls})
        == parse_spec(least)
        == a_spec(display_name="a", containers=(ContainerSpec("main", "a"),))
    )


@pytest.mark.parametrize("cards", [{"cards_per_node": 0}, {"cards_per_node": None}, {}])
def test_f04_no_cards_is_a_cpu_only_task_whatever_the_mark(cards: dict[str, Any]) -> None:
    spec = parse_spec(wire(resources={"mark": "rtx-4090", **cards}))
    assert isinstance(spec, TaskSpec)
    assert spec.resources == ResourceRequest(None, 0, 1)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(True, "a boolean"), (5, "a number"), (1.1, "a number"), (None, "nothing"), ([], "a list"), ({}, "an object")],
)
def test_f29_a_value_of_env_that_is_no_text_is_refused_with_its_key(value: object, kind: str) -> None:
    message = f"the value of “DEBUG” must be text, this is {kind}; put it in quotes"
    assert faults(with_container(env={"DEBUG": value})) == {"containers.0.env.DEBUG": [message]}


@pytest.mark.parametrize("text", ["yes", "NO", "1.10", "0123", "12:30", "2025-01-01", "", "null", "$(HOME)", "a\nb\t"])
def test_f29_a_text_of_env_is_kept_letter_for_letter(text: str) -> None:
    spec = parse_spec(with_container(env={"A": text}))
    assert isinstance(spec, TaskSpec)
    assert spec.containers[0].env == {"A": text}


def test_f29_a_name_of_env_that_yaml_made_a_boolean_is_refused() -> None:
    message = "the name must be text, this is a boolean; put it in quotes"
    assert faults(with_container(env={True: "x"})) == {"containers.0.env.True": [message]}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"kind": None}, "kind"),
        ({"kind": "StatefulSet"}, "kind"),
        ({"display_name": "Train"}, "display_name"),
        ({"display_name": None}, "display_name"),
        ({"display_name": 5}, "display_name"),
        ({"display_name": "a" * 501}, "display_name"),
        ({"project": "Map Team"}, "project"),
        ({"priority": "urgent"}, "priority"),
        ({"resources": []}, "resources"),
        ({"resources": {"cards_per_node": 1}}, "resources.mark"),
        ({"resources": {"mark": "a", "cards_per_node": True}}, "resources.cards_per_node"),
        ({"resources": {"mark": "a", "cards_per_node": "1"}}, "resources.cards_per_node"),
        ({"resources": {"mark": "a\x00", "cards_per_node": 1}}, "resources.mark"),
        ({"resources": {"nodes": 0}}, "resources.nodes"),
        ({"resources": {"nodes": 10_001}}, "resources.nodes"),
        ({"resources": {"nodes": -1}}, "resources.nodes"),
        ({"resources": {"nodes": 1.0}}, "resources.nodes"),
        ({"resources": {"gpus": 1}}, "resources.gpus"),
        ({"containers": []}, "containers"),
        ({"containers": "main"}, "containers"),
        ({"containers": [None]}, "containers.0"),
        ({"shm": "much"}, "shm"),
        ({"shm": 64}, "shm"),
        ({"shm": "0"}, "shm"),
        ({"shm": "1Gi", "shm_mib": 7}, "shm_mib"),
        ({"pending_timeout": 1800}, "pending_timeout"),
        ({"pending_timeout": "soon"}, "pending_timeout"),
        ({"pending_timeout": "0m\ud800"}, "pending_timeout"),
        ({"max_runtime": "9999999999s"}, "max_runtime"),
        ({"backoff_limit": 1001}, "backoff_limit"),
        ({"min_available": 0}, "min_available"),
        ({"pre_stop_seconds": "120"}, "pre_stop_seconds"),
        ({"on_preemption": "fight"}, "on_preemption"),
        ({"labels": []}, "labels"),
        ({"labels": {f"l{place}": "" for place in range(33)}}, "labels"),
        ({"datasets": [{"claim": "a", "mount_path": "/data", "read_only": "no"}]}, "datasets.0.read_only"),
        ({"datasets": [{"claim": "A", "mount_path": "/data"}]}, "datasets.0.claim"),
        ({"datasets": [{"claim": "a", "mount_path": "/data", "size": 1}]}, "datasets.0.size"),
        ({"datasets": [{"claim": "a", "mount_path": "/dev/shm/"}]}, "datasets.0.mount_path"),
        ({"advanced": "none"}, "advanced"),
        ({"hostNetwork": True}, "hostNetwork"),
        ({"state\ud800": 1}, "state�"),
    ],
)
def test_a_fault_of_the_task_is_named_by_its_path(change: dict[str, Any], path: str) -> None:
    assert list(faults(wire(**change))) == [path]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": None}, "name"),
        ({"name": "Main"}, "name"),
        ({"name": "a" * 64}, "name"),
        ({"image": None}, "image"),
        ({"image": "a b"}, "image"),
        ({"image": "registry/Train:1"}, "image"),
        ({"image": "a" * 501}, "image"),
        ({"image": "a\x00"}, "image"),
        ({"command": "sh -c true"}, "command"),
        ({"command": ["sh", 5]}, "command.1"),
        ({"command": ["\ud800"]}, "command.0"),
        ({"command": ["a"] * 201}, "command"),
        ({"args": ["a" * 40_000, "b" * 40_000]}, "args"),
        ({"env": ["A=1"]}, "env"),
        ({"env": {"1A": ""}}, "env.1A"),
        ({"env": {"A": "\x00"}}, "env.A"),
        ({"env": {"A" * 400: ""}}, "env." + "A" * 60),
        ({"env": {f"A{place}": "" for place in range(201)}}, "env"),
        ({"env": {f"A{place}": "x" * 1000 for place in range(40)}}, "env"),
        ({"cpu": 4}, "cpu"),
        ({"cpu": "four"}, "cpu"),
        ({"cpu": "0"}, "cpu"),
        ({"cpu": "-1"}, "cpu"),
        ({"cpu_millicores": 1}, "cpu_millicores"),
        ({"memory": "1e40"}, "memory"),
        ({"memory_mib": 1}, "memory_mib"),
        ({"cards": True}, "cards"),
        ({"cards": -1}, "cards"),
        ({"ports": [{}]}, "ports.0.port"),
        ({"ports": [{"port": 0}]}, "ports.0.port"),
        ({"ports": [{"port": 65_536}]}, "ports.0.port"),
        ({"ports": [{"port": 80, "protocol": "UDP"}]}, "ports.0.protocol"),
        ({"ports": [{"port": 80, "name": "http--x"}]}, "ports.0.name"),
        ({"ports": [{"port": 80, "name": "80"}]}, "ports.0.name"),
        ({"ports": [{"port": 80, "name": "a-name-too-long-"}]}, "ports.0.name"),
        ({"ports": [{"port": 80}, {"port": 80}]}, "ports.1.port"),
        ({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]}, "ports.1.name"),
        ({"securityContext": {"privileged": True}}, "securityContext"),
    ],
)
def test_a_fault_of_a_container_is_named_by_its_path(change: dict[str, Any], path: str) -> None:
    assert list(faults(with_container(**change))) == [f"containers.0.{path}"]


def test_containers_share_names_and_ports_with_nobody() -> None:
    twice = wire()["containers"] * 2
    assert list(faults(wire(containers=twice))) == [
        "containers.1.name",
        "containers.1.ports.0.port",
        "containers.1.ports.0.name",
    ]
    assert list(faults(wire(containers=twice * 11))) == ["containers"]


@pytest.mark.parametrize(
    "path",
    ["/", "//", "/.", "/proc", "/proc/1", "/./proc", "//sys", "/sys/", "/var/run/secrets", "/var/run/secrets/x"],
)
def test_nothing_is_mounted_over_the_system(path: str) -> None:
    assert list(faults(wire(datasets=[{"claim": "a", "mount_path": path}]))) == ["datasets.0.mount_path"]


@pytest.mark.parametrize("path", ["/run/secrets", "/data/../etc", "/..", "data", "/a:b", ""])
def test_a_mount_path_is_absolute_and_plain(path: str) -> None:
    assert list(faults(wire(datasets=[{"claim": "a", "mount_path": path}]))) == ["datasets.0.mount_path"]


def test_the_same_path_is_mounted_once_however_it_is_written() -> None:
    mounts = [{"claim": "a", "mount_path": "/data"}, {"claim": "b", "mount_path": "//data/."}]
    assert list(faults(wire(datasets=mounts))) == ["datasets.1.mount_path"]
    spec = parse_spec(wire(datasets=[mounts[0] | {"read_only": False}, {"claim": "b", "mount_path": "/procs"}]))
    assert isinstance(spec, TaskSpec)
    assert spec.datasets == (DatasetMount("a", "/data", False), DatasetMount("b", "/procs", True))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("platform/task-id", "x"),
        ("app.kubernetes.io/name", "x"),
        ("k8s.io/a", "x"),
        ("job-name", "x"),
        ("pod-template-hash", "x"),
        ("-a", "x"),
        ("a" * 64, "x"),
        ("Not A Domain/a", "x"),
        ("/a", "x"),
        ("", "x"),
        ("a", "x" * 64),
        ("a", "-x"),
        ("a", "x y"),
    ],
)
def test_labels_are_kubernetes_labels_and_not_the_platforms(key: str, value: str) -> None:
    assert list(faults(wire(labels={key: value}))) == [f"labels.{key[:60]}"]


@pytest.mark.parametrize(
    "image", ["a", "a:1", "a/b/c:v1.2_3", "reg.example.com:5000/x/y@sha256:" + "0" * 64, "a__b/c-d"]
)
def test_image_references_of_every_usual_shape_are_taken(image: str) -> None:
    assert isinstance(parse_spec(with_container(image=image)), TaskSpec)


@pytest.mark.parametrize("data", [None, [], "kind", 5, True])
def test_what_is_no_object_at_all_is_refused(data: object) -> None:
    assert list(faults(data)) == [""]


def test_hostile_input_gets_a_bounded_answer() -> None:
    assert len(faults(wire(**{f"x{place}": 1 for place in range(10_000)}))) == 100


def test_the_detail_is_the_first_fault_with_its_path() -> None:
    refusal = parse_spec(wire(priority="urgent"))
    assert isinstance(refusal, Refusal)
    assert refusal.detail == "priority: must be one of high, normal, low"


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=8), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.sampled_from([*wire(), "datasets", "min_available"]), json))
def test_any_json_is_a_spec_or_refused_under_a_path_that_can_be_encoded(data: dict[str, Any]) -> None:
    found = parse_spec(data)
    if isinstance(found, Refusal):
        assert all(path.encode() is not None for path in found.fields)
        assert found.detail.encode()


def test_the_exact_integers_of_an_answer_may_be_sent_back() -> None:
    answer = with_container(cpu_millicores=4000, memory_mib=16_384) | {"shm_mib": 1024}
    assert parse_spec(answer) == parse_spec(wire())


def test_a_patch_changes_only_what_it_names() -> None:
    spec = a_gpu_spec(labels={"a": "1", "b": "2"}, advanced={"max_surge": 1})
    patch = {
        "display_name": "other",
        "resources": {"nodes": 3},
        "labels": {"a": None, "c": "3"},
        "advanced": {"max_unavailable": "25%"},
        "priority": None,
    }
    assert merge_patch(spec, patch) == a_gpu_spec(
        display_name="other", nodes=3, labels={"b": "2", "c": "3"}, advanced={"max_surge": 1, "max_unavailable": "25%"}
    )


@given(specs())
def test_an_empty_patch_and_an_unchanged_whole_change_nothing(spec: TaskSpec) -> None:
    assert merge_patch(spec, {}) == replacement(spec, to_wire(spec)) == spec


def test_a_patch_is_read_as_strictly_as_a_new_spec() -> None:
    for patch, path in (([], ""), ({"colour": 1}, "colour"), ({"labels": 5}, "labels"), ({"kind": "X"}, "kind")):
        refusal = merge_patch(a_spec(), patch)
        assert isinstance(refusal, Refusal)
        assert path in refusal.fields


def test_a_task_scaled_to_zero_reads_back_but_no_edit_leads_there() -> None:
    rested = a_spec(resources=ResourceRequest(nodes=0))
    assert merge_patch(rested, {"display_name": "b"}) == a_spec(display_name="b", resources=ResourceRequest(nodes=0))
    assert replacement(rested, to_wire(rested)) == rested
    assert isinstance(merge_patch(a_spec(), {"resources": {"nodes": 0}}), Refusal)


def test_priorities_are_read_by_name() -> None:
    read = [parse_spec(wire(priority=word)) for word in Priority]
    assert [spec.priority for spec in read if isinstance(spec, TaskSpec)] == list(Priority)
