"""The status of a Job: counting, conditions, the verdict. Pure."""

from datetime import datetime

from devkube.embedded import clock
from devkube.embedded.controllers.job_view import (
    Tally,
    Verdict,
    index_of,
    parse_indexes,
    restarts,
    write_indexes,
)
from devkube.embedded.objects import Obj, condition, set_condition, spec, status


def add_condition(job: Obj, kind: str, value: str, reason: str, message: str) -> bool:
    """Set a condition with its times; say whether it changed."""
    now = clock.stamp()
    new = {
        "type": kind,
        "status": value,
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
    return set_condition(job, new)


def count(job: Obj, seen: Tally) -> None:
    """Add the pods that ended in this round."""
    state = status(job)
    if spec(job)["completionMode"] == "Indexed":
        done = parse_indexes(state.get("completedIndexes", ""))
        fresh = {index for pod in seen.succeeded if (index := index_of(pod)) is not None}
        done |= {index for index in fresh if index < spec(job)["completions"]}
        state["completedIndexes"] = write_indexes(done)
        succeeded = len(done)
        if not done:
            state.pop("completedIndexes")
    else:
        succeeded = state.get("succeeded", 0) + len(seen.succeeded)
    _number(state, "succeeded", succeeded)
    _number(state, "failed", state.get("failed", 0) + len(seen.failed))


def _number(state: Obj, key: str, value: int) -> None:
    if value:
        state[key] = value
    else:
        state.pop(key, None)


def fill(job: Obj, seen: Tally) -> None:
    """Write the numbers of the pods that are there."""
    state = status(job)
    _number(state, "active", len(seen.active))
    state["ready"] = seen.ready
    state["terminating"] = len(seen.terminating)
    state["uncountedTerminatedPods"] = {}


def verdict(job: Obj, seen: Tally, now: datetime) -> Verdict | None:
    """Say whether and why the Job ends; a verdict once given stays."""
    for kind, good in (("FailureTarget", False), ("SuccessCriteriaMet", True)):
        found = condition(job, kind)
        if found is not None and found.get("status") == "True":
            return Verdict(good, found.get("reason", ""), found.get("message", ""))
    return _failure(job, seen, now) or _success(job, seen)


def _failure(job: Obj, seen: Tally, now: datetime) -> Verdict | None:
    body, state = spec(job), status(job)
    if seen.fail_job:
        return Verdict(False, "PodFailurePolicy", seen.fail_job)
    limit, failed = body["backoffLimit"], state.get("failed", 0)
    over = failed > limit
    if spec(body["template"])["restartPolicy"] == "OnFailure":
        again = restarts(seen.active)
        over = over or (again > 0 if limit == 0 else again >= limit)
    if over:
        return Verdict(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    deadline, start = body.get("activeDeadlineSeconds"), state.get("startTime")
    runs = start and not body.get("suspend")
    if runs and deadline is not None and clock.seconds_since(start, now) >= deadline:
        return Verdict(False, "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def _success(job: Obj, seen: Tally) -> Verdict | None:
    body, done = spec(job), status(job).get("succeeded", 0)
    enough = done >= body["completions"] if "completions" in body else done > 0 and not seen.active
    if not enough or (body.get("suspend") and not done and body.get("completions") != 0):
        return None
    return Verdict(True, "CompletionsReached", "Reached expected number of succeeded pods")
