"""The three development clusters of the demo and their machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def _node(
    name: str,
    *,
    cpu: int,
    memory_gib: int,
    cards: Mapping[str, int] | None = None,
    mark: str = "",
    pool: str = "public",
) -> dict[str, Any]:
    capacity = {
        "cpu": str(cpu),
        "memory": f"{memory_gib}Gi",
        **{key: str(value) for key, value in (cards or {}).items()},
    }
    labels = {"platform/pool": pool} | ({"platform/mark": mark} if mark else {})
    return {"name": name, "labels": labels, "capacity": capacity}


def _a100(name: str, pool: str = "public") -> dict[str, Any]:
    return _node(name, cpu=64, memory_gib=1000, cards={"nvidia.com/gpu": 8}, mark="a100-80g", pool=pool)


def _rtx(name: str) -> dict[str, Any]:
    return _node(name, cpu=176, memory_gib=860, cards={"nvidia.com/gpu": 8}, mark="rtx-4090")


def _plain(name: str) -> dict[str, Any]:
    return _node(name, cpu=32, memory_gib=128)


def _jetson(name: str) -> dict[str, Any]:
    return _node(name, cpu=8, memory_gib=32, cards={"platform/jetson": 1}, mark="jetson-xavier")


CLUSTERS: Mapping[str, list[dict[str, Any]]] = {
    "beijing": [_a100("bj-a100-1"), _a100("bj-a100-2", "map-team"), _rtx("bj-4090-1"), _rtx("bj-4090-2")],
    "shanghai": [_rtx("sh-4090-1"), _rtx("sh-4090-2"), _plain("sh-cpu-1"), _plain("sh-cpu-2")],
    "edge": [_plain("edge-cpu-1"), _plain("edge-cpu-2"), _jetson("jetson-1"), _jetson("jetson-2")],
}
