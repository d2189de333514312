"""The Job controller."""

from datetime import datetime

from devkube.embedded import clock
from devkube.embedded import resources as r
from devkube.embedded.controllers import job_status
from devkube.embedded.controllers.job_view import (
    INDEX,
    TRACKED,
    Tally,
    Verdict,
    finished,
    index_of,
    parse_indexes,
    tally,
    waits_for_failed,
)
from devkube.embedded.controllers.pod_control import create_pod, delete_pod, from_template, removal_rank
from devkube.embedded.controllers.runtime import Context, Queue, key_of
from devkube.embedded.objects import (
    Obj,
    condition,
    controller_of,
    copy,
    deleting,
    finalizers_of,
    meta,
    name_of,
    spec,
    status,
    uid_of,
)
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.store import Change, Key

BY = "job-controller"
LONGEST_BACKOFF = 600.0


class JobController:
    """Runs pods until enough of them have succeeded, or the Job has failed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("job", self.sync)
        self._failures: dict[str, tuple[int, datetime]] = {}
        context.store.listen(r.JOBS, self._job_changed)
        context.store.listen(r.PODS, self._pod_changed)
        for entry in context.store.entries(r.JOBS):
            self.queue.add(key_of(entry.obj))
        for entry in context.store.entries(r.PODS):
            self._release_orphan(entry.obj)

    def _job_changed(self, change: Change) -> None:
        self.queue.add(key_of(change.entry.obj))
        if change.kind == "DELETED":
            self._failures.pop(uid_of(change.entry.obj), None)
            for pod in self.context.owned.controlled(uid_of(change.entry.obj), r.PODS):
                self._release(pod)

    def _pod_changed(self, change: Change) -> None:
        owner = controller_of(change.entry.obj)
        if owner and owner["kind"] == "Job":
            self.queue.add((meta(change.entry.obj)["namespace"], owner["name"]))
            if change.kind != "DELETED":
                self._release_orphan(change.entry.obj)
        elif TRACKED in finalizers_of(change.entry.obj) and change.kind != "DELETED":
            self._release(change.entry.obj)

    def _release_orphan(self, pod: Obj) -> None:
        owner = controller_of(pod)
        if TRACKED in finalizers_of(pod) and owner and owner["uid"] not in self.context.owned.uids:
            self._release(pod)

    def _release(self, pod: Obj) -> None:
        def change(new: Obj) -> None:
            meta(new)["finalizers"] = [each for each in finalizers_of(new) if each != TRACKED]

        self.context.registry.mutate(r.PODS, pod, change)

    def sync(self, key: Key) -> None:
        """Make one Job's pods and status agree with its spec."""
        entry = self.context.store.get(r.JOBS, *key)
        if entry is None:
            return
        job = entry.obj
        pods = self.context.owned.controlled(uid_of(job), r.PODS)
        if finished(job):
            for pod in pods:
                if TRACKED in finalizers_of(pod):
                    self._release(pod)
            self._expire(job)
            return
        new = copy(job)
        seen = tally(job, pods)
        with self.context.store.batch():
            self._count(new, seen)
            self._drive(new, seen)
            self._save(job, new)

    def _count(self, job: Obj, seen: Tally) -> None:
        """Add the ended pods to the status and let them go, in one write with it."""
        now = clock.now()
        if seen.succeeded:
            self._failures.pop(uid_of(job), None)
        elif seen.failed:
            before, _ = self._failures.get(uid_of(job), (0, now))
            self._failures[uid_of(job)] = (before + len(seen.failed), now)
        job_status.count(job, seen)
        for pod in seen.ended:
            self._release(pod)

    def _drive(self, job: Obj, seen: Tally) -> None:
        now = clock.now()
        state = status(job)
        if not spec(job).get("suspend") and "startTime" not in state:
            state["startTime"] = clock.stamp(now)
        verdict = job_status.verdict(job, seen, now)
        if verdict is None:
            self._deadline(job, now)
            self._manage(job, seen, now)
        else:
            self._end(job, seen, verdict)
        job_status.fill(job, seen)

    def _end(self, job: Obj, seen: Tally, verdict: Verdict) -> None:
        for pod in seen.active:
            self._release(pod)
            delete_pod(self.context, job, pod, BY)
        seen.terminating += [pod for pod in seen.active if self._present(pod)]
        seen.active = []
        interim = "SuccessCriteriaMet" if verdict.good else "FailureTarget"
        if condition(job, interim) is None:
            job_status.add_condition(job, interim, "True", verdict.reason, verdict.message)
        if seen.terminating:
            return
        job_status.add_condition(job, "Complete" if verdict.good else "Failed", "True", verdict.reason, verdict.message)
        if verdict.good:
            status(job)["completionTime"] = clock.stamp()
            self.context.events.record(job, "Completed", "Job completed", by=BY)
        else:
            self.context.events.record(job, verdict.reason, verdict.message, warning=True, by=BY)

    def _present(self, pod: Obj) -> bool:
        entry = self.context.store.get(r.PODS, *key_of(pod))
        return entry is not None and uid_of(entry.obj) == uid_of(pod)

    def _deadline(self, job: Obj, now: datetime) -> None:
        limit = spec(job).get("activeDeadlineSeconds")
        if limit is not None and "startTime" in status(job) and not spec(job).get("suspend"):
            left = limit - clock.seconds_since(status(job)["startTime"], now)
            self.queue.add(key_of(job), left + 0.05)

    def _manage(self, job: Obj, seen: Tally, now: datetime) -> None:
        if deleting(job):
            return
        if spec(job).get("suspend"):
            self._remove(job, seen, list(seen.active))
            self._mark_suspended(job)
            return
        self._mark_resumed(job)
        wanted = self._wanted(job)
        if len(seen.active) > wanted:
            surplus = sorted(seen.active, key=removal_rank)[: len(seen.active) - wanted]
            self._remove(job, seen, surplus)
            return
        busy = len(seen.active) + (len(seen.terminating) if waits_for_failed(job) else 0)
        if busy < wanted:
            wait = self._backoff(job, now)
            if wait > 0:
                self.queue.add(key_of(job), wait)
            else:
                self._start(job, seen, wanted - busy)

    @staticmethod
    def _wanted(job: Obj) -> int:
        body, done = spec(job), status(job).get("succeeded", 0)
        if "completions" not in body:
            return 0 if done else int(body["parallelism"])
        return int(min(body["parallelism"], max(body["completions"] - done, 0)))

    def _backoff(self, job: Obj, now: datetime) -> float:
        count, last = self._failures.get(uid_of(job), (0, now))
        if not count:
            return 0.0
        pause = min(self.context.timing.job_backoff * 2 ** min(count - 1, 12), LONGEST_BACKOFF)
        return float(pause) - (now - last).total_seconds()

    def _remove(self, job: Obj, seen: Tally, pods: list[Obj]) -> None:
        for pod in pods:
            self._release(pod)
            delete_pod(self.context, job, pod, BY)
            seen.active.remove(pod)
            if self._present(pod):
                seen.terminating.append(pod)

    def _start(self, job: Obj, seen: Tally, number: int) -> None:
        indexes = self._free_indexes(job, seen, number) if spec(job)["completionMode"] == "Indexed" else [None] * number
        for index in indexes:
            pod = from_template(job, spec(job)["template"])
            meta(pod)["finalizers"] = [*finalizers_of(pod), TRACKED]
            if index is not None:
                _give_index(job, pod, index)
            if create_pod(self.context, job, pod, BY) is not None:
                self.queue.retry(key_of(job))
                return
            seen.active.append(pod)

    @staticmethod
    def _free_indexes(job: Obj, seen: Tally, number: int) -> list[int | None]:
        taken = parse_indexes(status(job).get("completedIndexes", ""))
        busy = [*seen.active, *(seen.terminating if waits_for_failed(job) else [])]
        taken |= {index for pod in busy if (index := index_of(pod)) is not None}
        free: list[int | None] = [index for index in range(spec(job)["completions"]) if index not in taken]
        return free[:number]

    def _mark_suspended(self, job: Obj) -> None:
        if job_status.add_condition(job, "Suspended", "True", "JobSuspended", "Job suspended"):
            self.context.events.record(job, "Suspended", "Job suspended", by=BY)

    def _mark_resumed(self, job: Obj) -> None:
        found = condition(job, "Suspended")
        if found is not None and found.get("status") == "True":
            job_status.add_condition(job, "Suspended", "False", "JobResumed", "Job resumed")
            status(job)["startTime"] = clock.stamp()
            self.context.events.record(job, "Resumed", "Job resumed", by=BY)

    def _save(self, job: Obj, new: Obj) -> None:
        def change(present: Obj) -> None:
            present["status"] = new["status"]

        self.context.registry.mutate(r.JOBS, job, change)

    def _expire(self, job: Obj) -> None:
        """Remove a finished Job after ttlSecondsAfterFinished."""
        ttl = spec(job).get("ttlSecondsAfterFinished")
        if ttl is None or deleting(job):
            return
        ends = [c for c in status(job).get("conditions") or [] if c.get("type") in ("Complete", "Failed")]
        left = ttl - clock.seconds_since(ends[0].get("lastTransitionTime"), clock.now()) if ends else ttl
        if left > 0:
            self.queue.add(key_of(job), left + 0.05)
            return
        entry = self.context.store.get(r.JOBS, *key_of(job))
        if entry is not None:
            self.context.registry.delete(r.JOBS, entry, DeleteOptions(policy="Foreground"))


def _give_index(job: Obj, pod: Obj, index: int) -> None:
    about, name = meta(pod), name_of(job)
    about["generateName"] = f"{name[:50]}-{index}-"
    about.setdefault("annotations", {})[INDEX] = str(index)
    about.setdefault("labels", {})[INDEX] = str(index)
    spec(pod).setdefault("hostname", f"{name}-{index}")
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    for container in (*(spec(pod).get("initContainers") or []), *spec(pod)["containers"]):
        env = container.setdefault("env", [])
        if not any(each["name"] == "JOB_COMPLETION_INDEX" for each in env):
            env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": source})
