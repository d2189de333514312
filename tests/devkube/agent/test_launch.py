"""From a container's manifest to what runs: expansion, environment, volumes, limits. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from devkube.agent.launch import MissingReferenceError, expand, prepare, sources_of
from devkube.agent.quantities import whole
from devkube.agent.status import qos_class

POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u-1", "labels": {"platform/task-id": "t"}},
    "spec": {"nodeName": "n1", "containers": [], "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}]},
}


def test_known_names_are_expanded_and_unknown_ones_stay() -> None:
    assert expand("$(A)-$(B)-$$(A)-$A", {"A": "1"}) == "1-$(B)-$(A)-$A"


def test_the_environment_holds_fields_resources_and_earlier_names() -> None:
    env = [
        {"name": "A", "value": "1"},
        {"name": "B", "value": "$(A)2"},
        {"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "TASK", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['platform/task-id']"}}},
        {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ]
    container: dict[str, Any] = {"name": "c", "command": ["run", "$(B)"], "args": ["$(NAME)"], "env": env}
    container |= {"resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}}
    launch = prepare(POD, container, folder=Path("/d/u-1/c/0"), sources={})
    own = {key: launch.env[key] for key in ("A", "B", "NAME", "TASK", "CPU", "HOME", "TMPDIR", "HOSTNAME")}
    assert launch.argv == ("run", "12", "p")
    assert launch.memory_bytes == 1 << 30
    assert own == {
        "A": "1",
        "B": "12",
        "NAME": "p",
        "TASK": "t",
        "CPU": "2",
        "HOME": "/d/u-1/c/0/work",
        "TMPDIR": "/d/u-1/c/0/tmp",
        "HOSTNAME": "p",
    }


def test_a_volume_is_a_folder_named_in_the_environment() -> None:
    container = {"name": "c", "command": ["x"], "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}
    launch = prepare(POD, container, folder=Path("/d/u-1/c/0"), sources={})
    assert launch.env["DEVKUBE_MOUNT_DEV_SHM"] == "/d/u-1/volumes/shm"


def test_an_image_without_a_command_is_stood_in_for_by_a_process_that_says_so() -> None:
    launch = prepare(POD, {"name": "c", "image": "reg/train:1"}, folder=Path("/d"), sources={})
    assert launch.argv[:2] == ("/bin/sh", "-c")
    assert launch.env["DEVKUBE_IMAGE"] == "reg/train:1"


def test_a_missing_secret_is_named() -> None:
    reference = {"secretKeyRef": {"name": "s", "key": "k"}}
    container = {"name": "c", "command": ["x"], "env": [{"name": "A", "valueFrom": reference}]}
    assert sources_of(container) == (("secrets", "s"),)
    with pytest.raises(MissingReferenceError, match='couldn\'t find key k in secret "s"'):
        prepare(POD, container, folder=Path("/d"), sources={})
    assert prepare(POD, container, folder=Path("/d"), sources={"secret/s/k": "v"}).env["A"] == "v"


def test_quantities_are_read_in_their_base_unit() -> None:
    assert [whole(text) for text in ("1", "500m", "1.5Gi", "2k", "1e3")] == [1, 1, 3 << 29, 2000, 1000]


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
    ],
)
def test_the_quality_of_service_follows_from_requests_and_limits(resources: dict[str, Any], expected: str) -> None:
    assert qos_class({"containers": [{"name": "c", "resources": resources}]}) == expected
