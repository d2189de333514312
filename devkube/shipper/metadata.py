"""What is known about pods, namespaces and nodes: watched at the API server, else what the agent keeps on disk."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from devkube.agent.api import Api, Obj
from devkube.shipper.shaping import Source, Surroundings

MOST_DELETED = 2000


class Metadata:
    """A cache over three watches; deleted pods stay, the 2,000 newest of them."""

    def __init__(self, api: Api, data: Path) -> None:
        """`data` is the agent's data folder."""
        self._api, self._data = api, data
        self._pods: dict[str, Obj] = {}
        self._deleted: OrderedDict[str, Obj] = OrderedDict()
        self._labels: dict[str, dict[str, Obj]] = {"namespaces": {}, "nodes": {}}

    async def run(self) -> None:
        """Watch for ever."""
        loops = [self._api.follow("/api/v1/pods", "", self._list_pods, self._see_pod)]
        loops += [self._follow_labels(plural) for plural in self._labels]
        await asyncio.gather(*loops)

    async def _list_pods(self, pods: list[Obj]) -> None:
        now = {pod["metadata"]["uid"]: pod for pod in pods}
        for uid in self._pods.keys() - now.keys():
            self._bury(uid, self._pods[uid])
        self._pods = now

    async def _see_pod(self, kind: str, pod: Obj) -> None:
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            self._pods.pop(uid, None)
            self._bury(uid, pod)
        else:
            self._pods[uid] = pod

    def _bury(self, uid: str, pod: Obj) -> None:
        self._deleted[uid] = pod
        while len(self._deleted) > MOST_DELETED:
            self._deleted.popitem(last=False)

    def _follow_labels(self, plural: str) -> Coroutine[Any, Any, None]:
        async def listed(found: list[Obj]) -> None:
            self._labels[plural] = {each["metadata"]["name"]: each["metadata"].get("labels") or {} for each in found}

        async def happened(kind: str, seen: Obj) -> None:
            self._labels[plural][seen["metadata"]["name"]] = seen["metadata"].get("labels") or {}

        return self._api.follow(f"/api/v1/{plural}", "", listed, happened)

    def around(self, source: Source) -> Surroundings:
        """What is known about a log file's pod."""
        pod = self._pods.get(source.uid) or self._deleted.get(source.uid) or self._kept(source.uid)
        node = str(pod["spec"].get("nodeName", "")) if pod else ""
        namespace_labels = self._labels["namespaces"].get(source.namespace) or {
            "kubernetes.io/metadata.name": source.namespace
        }
        return Surroundings(pod, namespace_labels, self._labels["nodes"].get(node) or {})

    def _kept(self, uid: str) -> Obj | None:
        try:
            pod: Obj = json.loads((self._data / "run" / uid / "pod.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        self._bury(uid, pod)
        return pod
