"""Specs, marks and recorded objects for tests: builders name only what matters; strategies make every valid spec."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from apps.clusters.domain.marks import MarkFacts
from apps.kernel.resources import MiB, Millicores
from apps.tasks.domain.spec import (
    ContainerSpec,
    DatasetMount,
    KindName,
    OnPreemption,
    Port,
    Priority,
    ResourceRequest,
    TaskSpec,
)
from apps.tasks.kinds.base import ManifestInput

RTX_4090 = MarkFacts(
    "rtx-4090",
    "nvidia.com/gpu",
    8,
    Millicores(20_000),
    MiB(103_424),
    {"nvidia.com/gpu.product": "NVIDIA-GeForce-RTX-4090"},
)
A100 = MarkFacts("a100-80g", "nvidia.com/gpu", 8, Millicores(7_000), MiB(120_832), {"gpu": "a100"})
EDGE = MarkFacts("orin", "example.com/orin", 2, Millicores(0), MiB(0), {"edge": "orin"}, is_device=True)
MARKS = {mark.mark: mark for mark in (RTX_4090, A100, EDGE)}


def a_container(name: str = "main", **changes: Any) -> ContainerSpec:
    return ContainerSpec(**{"name": name, "image": "registry/train:1", **changes})


def a_cpu_container(name: str = "main", *, cpu: int = 4_000, memory: int = 8_192, **changes: Any) -> ContainerSpec:
    return a_container(name, cpu=Millicores(cpu), memory=MiB(memory), **changes)


def a_spec(kind: KindName = KindName.JOB, **changes: Any) -> TaskSpec:
    """A CPU-only Job of one container in its owner's own name, unless said otherwise."""
    return TaskSpec(**{"kind": kind, "display_name": "train-a", "containers": (a_cpu_container(),), **changes})


def a_gpu_spec(kind: KindName = KindName.JOB, *, cards: int = 1, nodes: int = 1, **changes: Any) -> TaskSpec:
    resources = ResourceRequest(RTX_4090.mark, cards, nodes)
    return a_spec(kind, **{"containers": (a_container(),), "resources": resources, **changes})


def given_for(spec: TaskSpec, **changes: Any) -> ManifestInput:
    """The manifest's input for a spec: attempt 1 of one task in pool ``public``."""
    start = ManifestInput(
        spec=spec,
        mark=MARKS.get(spec.resources.mark or ""),
        task_id="6b0f4f5e-0000-4000-8000-000000000001",
        attempt=1,
        object_name="train-a-abcdefgh",
        namespace="platform-p-map-team",
        scope="p-map-team",
        pool="public",
    )
    return dataclasses.replace(start, **changes)


_names = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)
_plain_text = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
_env = st.dictionaries(st.from_regex(r"[A-Z_][A-Z0-9_]{0,10}", fullmatch=True), _plain_text, max_size=3)
_labels = st.dictionaries(
    st.from_regex(r"(example\.com/)?[a-z]{1,8}", fullmatch=True),
    st.from_regex(r"([A-Za-z0-9]{1,8})?", fullmatch=True),
    max_size=3,
)
_tolerations = st.sampled_from([[], [{"operator": "Exists"}], [{"key": "team", "operator": "Equal", "value": "map"}]])


def _container(draw: st.DrawFn, name: str, port: int, *, weighted: bool) -> ContainerSpec:
    return ContainerSpec(
        name=name,
        image=draw(st.sampled_from(["a", "registry/train:1", "harbor.example.com:5000/a/b:v1.2"])),
        command=tuple(draw(st.lists(_plain_text, max_size=3))),
        args=tuple(draw(st.lists(_plain_text, max_size=3))),
        env=draw(_env),
        cpu=Millicores(draw(st.integers(1_000, 64_000))) if weighted else None,
        memory=MiB(draw(st.integers(1_024, 1_000_000))) if weighted else None,
        ports=(Port(port),) if draw(st.booleans()) else (),
    )


@st.composite
def specs(draw: st.DrawFn) -> TaskSpec:
    """Any spec that the wire reader accepts and that can be split."""
    names = draw(st.lists(_names, min_size=1, max_size=4, unique=True))
    mark = draw(st.sampled_from([None, RTX_4090, A100, EDGE]))
    weighted = mark is None or mark.is_device or draw(st.booleans())
    ports = draw(st.lists(st.integers(1, 65_535), min_size=len(names), max_size=len(names), unique=True))
    containers = tuple(_container(draw, name, port, weighted=weighted) for name, port in zip(names, ports, strict=True))
    kind = draw(st.sampled_from(KindName))
    return TaskSpec(
        kind=kind,
        display_name=draw(st.from_regex(r"[a-z][a-zA-Z0-9-]{0,62}", fullmatch=True)),
        containers=containers,
        resources=ResourceRequest(
            mark.mark if mark else None, draw(st.integers(1, 8)) if mark else 0, draw(st.integers(1, 10_000))
        ),
        project=draw(st.sampled_from([None, "map-team"])),
        priority=draw(st.sampled_from(Priority)),
        shm=draw(st.none() | st.integers(1, 4_096).map(MiB)),
        datasets=draw(
            st.sampled_from([(), (DatasetMount("s3-data", "/data"), DatasetMount("s3-data", "/more", False))])
        ),
        pending_timeout=draw(st.integers(0, 86_400)),
        max_runtime=draw(st.none() | st.integers(1, 86_400)),
        backoff_limit=draw(st.integers(0, 6)),
        min_available=None,
        pre_stop_seconds=draw(st.none() | st.integers(0, 3_600)),
        on_preemption=draw(st.sampled_from(OnPreemption)),
        labels=draw(_labels),
        advanced={"tolerations": tolerations} if (tolerations := draw(_tolerations)) else {},
    )
