"""Kubernetes Events about pods, as kubelet words them; best effort, never in the way of the work."""

from __future__ import annotations

import asyncio
import logging
import uuid

from devkube.agent.api import AWAY, Api, Obj
from devkube.agent.clock import now, stamp

log = logging.getLogger("devkube.agent")
MOST_WAITING = 500


class Recorder:
    """Sends events one after another; beyond 500 waiting ones, new ones are dropped."""

    def __init__(self, api: Api) -> None:
        """Nothing is sent before `run`."""
        self._api = api
        self._waiting: asyncio.Queue[Obj] = asyncio.Queue(MOST_WAITING)

    def say(self, pod: Obj, reason: str, message: str, *, warning: bool = False, container: str = "") -> None:
        """Queue one event about a pod or, with `container`, about one of its containers."""
        meta, at = pod["metadata"], stamp(now())
        node = str(pod["spec"].get("nodeName", ""))
        about = {"apiVersion": "v1", "kind": "Pod", "namespace": meta["namespace"], "name": meta["name"]}
        about |= {"uid": meta["uid"]} | ({"fieldPath": f"spec.containers{{{container}}}"} if container else {})
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{meta['name'][:200]}.{uuid.uuid4().hex[:16]}", "namespace": meta["namespace"]},
            "involvedObject": about,
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message[:1024],
            "source": {"component": "kubelet", "host": node},
            "reportingComponent": "kubelet",
            "reportingInstance": node,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
        }
        if not self._waiting.full():
            self._waiting.put_nowait(event)

    async def run(self) -> None:
        """Send what is queued, for ever."""
        while True:
            event = await self._waiting.get()
            path = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
            try:
                await self._api.call("POST", path, body=event)
            except AWAY as error:
                log.info("event %s lost: %s", event["reason"], error)
