"""One pod on one node: starts its containers, tells its status, ends it; a loop around the pure decide and status."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Iterable
from pathlib import Path

from devkube.agent import clock
from devkube.agent.api import AWAY, STRATEGIC, Api, ApiError, Obj
from devkube.agent.decide import Decision, Rules, Seen, Start, Waiting, Wanted, decide
from devkube.agent.events import Recorder
from devkube.agent.launch import MissingReferenceError, prepare, sources_of
from devkube.agent.runs import Run, Runs
from devkube.agent.status import ContainerView, PodView, RunView, container_id, pod_status
from devkube.agent.stopping import stop_all

log = logging.getLogger("devkube.agent")
RETRY_SECONDS = 1.0
GONE_GRACE = 1.0
NO_END = float("inf")


class Worker:
    """Give it every new version of its pod by `update`, or `vanish` when the API has the pod no more."""

    def __init__(self, pod: Obj, api: Api, runs: Runs, recorder: Recorder, *, logs: Path, backoff: float) -> None:
        """`logs` is the folder of pod log folders; `backoff` the first crash back-off in seconds."""
        self.pod, self.uid = pod, str(pod["metadata"]["uid"])
        self.key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self._api, self._runs, self._recorder, self._backoff = api, runs, recorder, backoff
        meta = pod["metadata"]
        self.logs = logs / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"
        self._wake = asyncio.Event()
        self._gone = self.closing = False
        self._kill_at = NO_END
        self._since = clock.now()
        self._pulls: dict[str, float] = {}
        self._faults: dict[str, Waiting] = {}
        self._watched: dict[Path, asyncio.Task[None]] = {}
        self._sent: Obj | None = None
        self._verdict: tuple[str, str, str] | None = None  # phase, reason, message that nothing changes any more
        self._runs.remember(self.uid, pod)

    def update(self, pod: Obj) -> None:
        """Take over a newer version of the pod."""
        self.pod = pod
        self._runs.remember(self.uid, pod)
        self._wake.set()

    def vanish(self) -> None:
        """The pod is not in the API any more."""
        self._gone = True
        self._wake.set()

    def interrupt(self) -> None:
        """The agent is about to stop: start nothing any more."""
        self.closing = True
        self._wake.set()

    async def close(self, grace: float) -> None:
        """The agent stops: stop the containers within `grace` seconds and leave the pod to the next start."""
        running = self._running()
        for run, _ in running:
            self._runs.mark_interrupted(run)
        end = clock.monotonic() + grace
        await stop_all(self._runs, running, lambda: end)

    async def run(self) -> None:
        """Work until the pod is gone."""
        try:
            while not self.closing:
                self._wake.clear()
                try:
                    look_again = await self._step()
                except AWAY as error:
                    log.info("pod %s: %s", self.key, error)
                    look_again = RETRY_SECONDS
                if look_again is not None and look_again < 0:
                    return
                await self._rest(look_again)
        finally:
            for task in self._watched.values():
                task.cancel()

    async def _rest(self, seconds: float | None) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except TimeoutError:
            return

    async def _step(self) -> float | None:
        """One round; seconds until the next, None when only news can change anything, negative at the end."""
        if self._gone or "deletionTimestamp" in self.pod["metadata"]:
            return await self._end()
        if self._verdict is None:
            self._verdict = self._written_verdict()
        if self._verdict is not None:
            await self._tell(Decision((), {}, None, self._verdict[0]))
            return None
        if (left := self._deadline_left()) is not None and left <= 0:
            return await self._past_deadline()
        decision = self._decide()
        if decision.phase in ("Succeeded", "Failed"):
            self._verdict = (decision.phase, "", "")
        if not self.closing:
            for start in decision.starts:
                await self._tell(decision)
                await self._start(start)
        if decision.starts:
            decision = self._decide()
        await self._tell(decision)
        pauses = [pause for pause in (decision.look_again, left) if pause is not None]
        return 0.0 if decision.starts else min(pauses, default=None)

    def _written_verdict(self) -> tuple[str, str, str] | None:
        status = self.pod.get("status") or {}
        if status.get("phase") in ("Succeeded", "Failed"):
            return status["phase"], status.get("reason", ""), status.get("message", "")
        return None

    def names(self) -> list[str]:
        """The names of all containers."""
        return [str(each["name"]) for each in self._containers()]

    def waiting_reason(self, container: str) -> str:
        """Why a container that never ran does not run, as last told."""
        for each in [
            *(self._sent or {}).get("initContainerStatuses", []),
            *(self._sent or {}).get("containerStatuses", []),
        ]:
            if each["name"] == container:
                return str((each["state"].get("waiting") or {}).get("reason", "ContainerCreating"))
        return "ContainerCreating"

    # -- seeing -----------------------------------------------------------------------------------------------------

    def _containers(self) -> Iterable[Obj]:
        yield from self.pod["spec"].get("initContainers") or []
        yield from self.pod["spec"]["containers"]

    def _running(self) -> list[tuple[Run, Obj]]:
        found = []
        for container in self._containers():
            run = self._runs.latest(self.uid, container["name"])
            if run is not None and run.ended() is None:
                found.append((run, container))
        return found

    def _decide(self) -> Decision:
        meta = self.pod["metadata"]
        name = f"{meta['name']}_{meta['namespace']}({meta['uid']})"
        rules = Rules(self.pod["spec"].get("restartPolicy", "Always"), self._backoff, name)
        now = clock.now()
        inits = [self._wanted(each, now) for each in self.pod["spec"].get("initContainers") or []]
        mains = [self._wanted(each, now) for each in self.pod["spec"]["containers"]]
        decision = decide(inits, mains, rules, now)
        faulty = {name: fault for name, fault in self._faults.items() if name not in decision.waiting}
        starts = tuple(start for start in decision.starts if start.container not in faulty)
        if not faulty:
            return decision
        look_again = min(pause for pause in (decision.look_again, self._backoff) if pause is not None)
        self._faults = {}  # asked again at the next look
        return Decision(starts, {**decision.waiting, **faulty}, look_again, decision.phase)

    def _wanted(self, container: Obj, now: float) -> Wanted:
        name, image = str(container["name"]), str(container.get("image", ""))
        run = self._runs.latest(self.uid, name)
        asked = self._pulls.setdefault(name, now)
        if run is None:
            return Wanted(name, image, None, now - asked)
        self._watch(run)
        ended = run.ended()
        if ended is None:
            return Wanted(name, image, Seen(run.number, streak=run.streak))
        ran_for = ended.finished - ended.started
        seen = Seen(run.number, ended.code, ended.finished, ran_for, run.streak, run.interrupted)
        return Wanted(name, image, seen, now - asked)

    def _watch(self, run: Run) -> None:
        if run.folder in self._watched or run.ended() is not None:
            return

        async def ring() -> None:
            await self._runs.wait(run)
            self._wake.set()

        self._watched[run.folder] = asyncio.create_task(ring())

    # -- doing ------------------------------------------------------------------------------------------------------

    async def _start(self, start: Start) -> None:
        container = next(each for each in self._containers() if each["name"] == start.container)
        name = start.container
        try:
            sources = await self._sources(container)
            folder = self._runs.folder(self.uid, name, start.number)
            launch = prepare(self.pod, container, folder=folder, sources=sources)
        except (MissingReferenceError, ValueError) as error:
            self._faults[name] = Waiting("CreateContainerConfigError", str(error))
            self._recorder.say(self.pod, "Failed", f"Error: {error}", warning=True, container=name)
            return
        if launch.volumes[2:]:
            log.info("pod %s: %s cannot be mounted here; the folders stand in DEVKUBE_MOUNT_*", self.key, name)
        path = self.logs / name / f"{start.number}.log"
        run = await self._runs.start(self.uid, name, launch, log=path, number=start.number, streak=start.streak)
        self._watch(run)
        self._recorder.say(self.pod, "Created", f"Created container: {name}", container=name)
        self._recorder.say(self.pod, "Started", f"Started container {name}", container=name)

    async def _sources(self, container: Obj) -> dict[str, str]:
        namespace = self.pod["metadata"]["namespace"]
        found: dict[str, str] = {}
        for plural, name in sources_of(container):
            try:
                answer = await self._api.call("GET", f"/api/v1/namespaces/{namespace}/{plural}/{name}")
            except ApiError as error:
                if error.code != 404:
                    raise
                continue
            for key, text in (answer.get("data") or {}).items():
                value = base64.b64decode(text).decode(errors="replace") if plural == "secrets" else text
                found[f"{'secret' if plural == 'secrets' else 'config'}/{name}/{key}"] = value
        return found

    def _deadline_left(self) -> float | None:
        limit = self.pod["spec"].get("activeDeadlineSeconds")
        return None if limit is None else self._start_time() + float(limit) - clock.now()

    def _start_time(self) -> float:
        written = (self.pod.get("status") or {}).get("startTime")
        return clock.parse(written) if written else self._since

    async def _past_deadline(self) -> float | None:
        grace = float(self.pod["spec"].get("terminationGracePeriodSeconds", 30))
        end = clock.monotonic() + grace
        await stop_all(self._runs, self._running(), lambda: min(end, self._kill_at))
        text = "Pod was active on the node longer than the specified deadline"
        self._recorder.say(self.pod, "DeadlineExceeded", text, warning=True)
        self._verdict = ("Failed", "DeadlineExceeded", text)
        return 0.0

    async def _end(self) -> float | None:
        began = clock.monotonic()
        running = self._running()
        if running and not self._gone:
            for _, container in running:
                name = container["name"]
                self._recorder.say(self.pod, "Killing", f"Stopping container {name}", container=name)
        await stop_all(self._runs, running, lambda: began + self._grace())
        if not self._gone:
            if self._written_verdict() is None:
                await self._tell(self._final())
            # With a grace of 0 the pod only waits for somebody's finalizer.
            if self.pod["metadata"].get("deletionGracePeriodSeconds") != 0:
                await self._delete()
        self._runs.clear(self.uid)
        return -1.0

    def _grace(self) -> float:
        if self._gone:
            return GONE_GRACE
        return float(self.pod["metadata"].get("deletionGracePeriodSeconds") or 0)

    def _final(self) -> Decision:
        """Phase of a pod that was stopped: Succeeded when every container ended with 0, as kubelet says."""
        if self._verdict:
            return Decision((), {}, None, self._verdict[0])
        runs = [self._runs.latest(self.uid, each["name"]) for each in self.pod["spec"]["containers"]]
        ends = [run.ended() if run else None for run in runs]
        good = all(end is not None and end.code == 0 for end in ends)
        return Decision((), {}, None, "Succeeded" if good else "Failed")

    async def _delete(self) -> None:
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        try:
            await self._api.call("DELETE", self._path(), body=body)
        except ApiError as error:
            if error.code not in (404, 409):
                raise

    # -- telling ----------------------------------------------------------------------------------------------------

    async def _tell(self, decision: Decision) -> None:
        verdict = self._verdict or ("", "", "")
        inits = [self._view(each, decision) for each in self.pod["spec"].get("initContainers") or []]
        mains = [self._view(each, decision) for each in self.pod["spec"]["containers"]]
        phase = decision.phase
        if phase == "Running" and not any(view.latest for view in mains):
            phase = "Pending"
        view = PodView(phase, inits, mains, self._start_time(), verdict[1], verdict[2])
        status = pod_status(self.pod, view, clock.now())
        if status == self._sent or self._same_as_written(status):
            return
        body = {"metadata": {"uid": self.uid}, "status": status}
        try:
            answer = await self._api.call("PATCH", f"{self._path()}/status", body=body, kind=STRATEGIC)
        except ApiError as error:
            if error.code == 404:
                self.vanish()
                return
            raise
        self._sent = status
        self.pod = {**self.pod, "status": answer.get("status") or status}

    def _same_as_written(self, status: Obj) -> bool:
        written = self.pod.get("status") or {}
        return all(written.get(key) == value for key, value in status.items() if key != "conditions") and {
            (each["type"], each["status"], each.get("reason")) for each in status["conditions"]
        } <= {(each["type"], each["status"], each.get("reason")) for each in written.get("conditions") or []}

    def _view(self, container: Obj, decision: Decision) -> ContainerView:
        name = str(container["name"])
        runs = self._runs.of(self.uid, name)[-2:]
        views = [
            RunView(run.number, container_id(self.uid, name, run.number), run.started, run.ended()) for run in runs
        ]
        latest = views[-1] if views else None
        previous = views[-2] if len(views) > 1 else None
        return ContainerView(name, str(container.get("image", "")), latest, previous, decision.waiting.get(name))

    def _path(self) -> str:
        meta = self.pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
