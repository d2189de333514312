"""What a Job's pods say: pure counting, no store."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from devkube.embedded.objects import (
    Obj,
    annotations_of,
    condition_true,
    deleting,
    finalizers_of,
    name_of,
    namespace_of,
    pod_phase,
    pod_ready,
    spec,
    status,
)

TRACKED = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a Job ends."""

    good: bool
    reason: str
    message: str


@dataclass(slots=True)
class Tally:
    """A Job's pods sorted by what they mean. `ended`: tracked pods to be counted now and let go."""

    active: list[Obj] = field(default_factory=list)
    terminating: list[Obj] = field(default_factory=list)
    succeeded: list[Obj] = field(default_factory=list)
    failed: list[Obj] = field(default_factory=list)
    ignored: list[Obj] = field(default_factory=list)
    fail_job: str = ""

    @property
    def ready(self) -> int:
        """How many active pods are ready."""
        return sum(pod_ready(pod) for pod in self.active)

    @property
    def ended(self) -> list[Obj]:
        """Pods whose end is counted in this round."""
        return [*self.succeeded, *self.failed, *self.ignored]


def waits_for_failed(job: Obj) -> bool:
    """True when a pod is replaced only once it has really ended."""
    return bool(spec(job).get("podReplacementPolicy") == "Failed")


def tally(job: Obj, pods: Iterable[Obj]) -> Tally:
    """Sort the pods of a Job."""
    found = Tally()
    for pod in pods:
        phase = pod_phase(pod)
        if phase not in ("Succeeded", "Failed"):
            (found.terminating if deleting(pod) else found.active).append(pod)
        if TRACKED not in finalizers_of(pod):
            continue
        if phase == "Succeeded":
            found.succeeded.append(pod)
        elif phase == "Failed" or (deleting(pod) and not waits_for_failed(job)):
            _sort_failure(job, pod, found)
        elif deleting(pod) and deleting_done(pod):
            found.ignored.append(pod)
    return found


def deleting_done(pod: Obj) -> bool:
    """True when nothing but finalizers holds a deleted pod."""
    return deleting(pod) and not pod["metadata"].get("deletionGracePeriodSeconds")


def _sort_failure(job: Obj, pod: Obj, found: Tally) -> None:
    action, why = failure_action(job, pod)
    if action == "Ignore":
        found.ignored.append(pod)
        return
    if action == "FailJob":
        found.fail_job = found.fail_job or why
    found.failed.append(pod)


def failure_action(job: Obj, pod: Obj) -> tuple[str, str]:
    """Match a failed pod with the podFailurePolicy; returns the action (Count without a match) and why."""
    place = f"{namespace_of(pod)}/{name_of(pod)}"
    for at, rule in enumerate((spec(job).get("podFailurePolicy") or {}).get("rules") or []):
        action = rule["action"]
        for pattern in rule.get("onPodConditions") or []:
            found = next((c for c in status(pod).get("conditions") or [] if c.get("type") == pattern["type"]), None)
            if found is not None and found.get("status") == pattern.get("status", "True"):
                return action, f"Pod {place} has condition {pattern['type']} matching {action} rule at index {at}"
        if wanted := rule.get("onExitCodes"):
            for name, code in _exit_codes(pod):
                if wanted.get("containerName", name) == name and _code_matches(wanted, code):
                    text = f"Container {name} for pod {place} failed with exit code {code} matching {action} rule"
                    return action, f"{text} at index {at}"
    return "Count", ""


def _exit_codes(pod: Obj) -> Iterable[tuple[str, int]]:
    for group in ("containerStatuses", "initContainerStatuses"):
        for each in status(pod).get(group) or []:
            ended = (each.get("state") or {}).get("terminated")
            if ended and ended.get("exitCode"):
                yield each["name"], ended["exitCode"]


def _code_matches(wanted: Obj, code: int) -> bool:
    listed = code in (wanted.get("values") or [])
    return listed if wanted.get("operator") == "In" else not listed


def index_of(pod: Obj) -> int | None:
    """Return the completion index of an Indexed Job's pod."""
    text = annotations_of(pod).get(INDEX, "")
    return int(text) if text.isascii() and text.isdigit() else None


def parse_indexes(text: str) -> set[int]:
    """Read `1,3-5`; what is not of that form is passed over."""
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        ends = (first, last or first)
        if all(each.isascii() and each.isdigit() and len(each) <= 6 for each in ends):
            found.update(range(int(ends[0]), int(ends[1]) + 1))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """Write indexes in the shortest form, `1,3-5`."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(a) if a == b else f"{a}{',' if b == a + 1 else '-'}{b}" for a, b in runs)


def finished(job: Obj) -> bool:
    """True once a Job is Complete or Failed for good."""
    return condition_true(job, "Complete") or condition_true(job, "Failed")


def restarts(pods: Iterable[Obj]) -> int:
    """Sum the restarts of containers, which count as failures for restartPolicy OnFailure."""
    groups = ("initContainerStatuses", "containerStatuses")
    return sum(each.get("restartCount", 0) for pod in pods for g in groups for each in status(pod).get(g) or [])
