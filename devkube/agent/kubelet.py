"""The agent as a whole: nodes, the watch of each one's pods, a worker per pod, adoption at the start, a clean stop."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from devkube.agent import clock
from devkube.agent.api import Api, Obj
from devkube.agent.events import Recorder
from devkube.agent.nodes import NodeKeeper, NodePlan
from devkube.agent.runs import Runs
from devkube.agent.worker import Worker

log = logging.getLogger("devkube.agent")
SHUTDOWN_GRACE = 8.0
SWEEP_SECONDS = 30.0


class Kubelet:
    """Runs the pods of `plans`. `backoff`, `heartbeat` and `keep_logs` are seconds."""

    def __init__(
        self,
        api: Api,
        plans: Sequence[NodePlan],
        data: Path,
        *,
        port: int,
        backoff: float,
        heartbeat: float,
        keep_logs: float,
    ) -> None:
        """Touches nothing but the data folder before `run`."""
        self.runs = Runs(data)
        self.logs = data / "pods"
        self.logs.mkdir(exist_ok=True)
        self.workers: dict[str, Worker] = {}
        self._api, self._plans, self._backoff, self._keep_logs = api, plans, backoff, keep_logs
        self._recorder = Recorder(api)
        self._keepers = [NodeKeeper(plan, api, port=port, heartbeat=heartbeat) for plan in plans]
        self._tasks: set[asyncio.Task[None]] = set()
        self._names = {plan.name for plan in plans}

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`, then stop every container and leave the pods to the next start."""
        self._adopt()
        for loop in (self._recorder.run, self._sweep, *(keeper.run for keeper in self._keepers)):
            self._spawn(loop)
        for plan in self._plans:
            self._spawn(self._follower(plan.name))
        await stop.wait()
        for worker in self.workers.values():
            worker.interrupt()
        await asyncio.gather(*(worker.close(SHUTDOWN_GRACE) for worker in self.workers.values()))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, loop: Callable[[], Awaitable[None]]) -> None:
        async def guarded() -> None:
            await loop()

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a loop of the agent broke", exc_info=error)

    def _follower(self, node: str) -> Callable[[], Awaitable[None]]:
        async def listed(pods: list[Obj]) -> None:
            uids = {pod["metadata"]["uid"] for pod in pods}
            for pod in pods:
                self._see(pod)
            for uid, worker in list(self.workers.items()):
                if worker.pod["spec"].get("nodeName") == node and uid not in uids:
                    worker.vanish()
            self._adopt_strangers(node, uids)

        async def happened(kind: str, pod: Obj) -> None:
            if kind == "DELETED":
                if worker := self.workers.get(pod["metadata"]["uid"]):
                    worker.vanish()
            else:
                self._see(pod)

        async def follow() -> None:
            await self._api.follow("/api/v1/pods", f"spec.nodeName={node}", listed, happened)

        return follow

    def _see(self, pod: Obj) -> None:
        uid = pod["metadata"]["uid"]
        if worker := self.workers.get(uid):
            worker.update(pod)
            return
        worker = Worker(pod, self._api, self.runs, self._recorder, logs=self.logs, backoff=self._backoff)
        self.workers[uid] = worker

        async def work() -> None:
            try:
                await worker.run()
            finally:
                if self.workers.get(uid) is worker and not worker.closing:
                    del self.workers[uid]

        self._spawn(work)

    def _adopt(self) -> None:
        """Take over what an earlier agent left running, whether the API answers already or not."""
        for uid in self.runs.pods():
            pod = self.runs.remembered(uid)
            if pod is not None and pod["spec"].get("nodeName") in self._names and self.runs.any_alive(uid):
                self._see(pod)

    def _adopt_strangers(self, node: str, known: set[str]) -> None:
        """Pods that ran here before the agent was away and that the API has no more: their processes must end."""
        for uid in self.runs.pods():
            pod = self.runs.remembered(uid)
            if uid in known or uid in self.workers or pod is None or pod["spec"].get("nodeName") != node:
                continue
            if any((self.runs.root / uid).glob("*/")):
                self._see(pod)
                self.workers[uid].vanish()

    async def _sweep(self) -> None:
        """Remove logs and what is remembered of pods that are long gone."""
        while True:
            for uid in self.runs.pods():
                folder = self.runs.root / uid
                old = clock.now() - folder.stat().st_mtime > self._keep_logs
                if uid not in self.workers and old and not any(folder.glob("*/")):
                    for logs in self.logs.glob(f"*_{uid}"):
                        shutil.rmtree(logs, ignore_errors=True)
                    shutil.rmtree(folder, ignore_errors=True)
            await asyncio.sleep(SWEEP_SECONDS)

    def worker_of(self, namespace: str, name: str) -> Worker | None:
        """The worker of a pod by its name."""
        return next((worker for worker in self.workers.values() if worker.key == f"{namespace}/{name}"), None)
