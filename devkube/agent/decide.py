"""What to do with a pod next: which containers to start, which wait and why, whether it has finished. Pure.

The rules are kubelet's: init containers in order, restartPolicy, a first restart at once and then a back-off that
doubles from 10 s to 5 min and is forgotten after a run of 10 min, ErrImagePull with a back-off of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LONGEST_BACKOFF = 300.0
FORGET_AFTER = 600.0
PULL_ERROR_SHOWN = 2.0


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest run of a container: ended at `finished` (seconds) with `code`, or running when that is None."""

    number: int
    code: int | None = None
    finished: float | None = None
    ran_for: float = 0.0
    streak: int = 0
    interrupted: bool = False

    @property
    def running(self) -> bool:
        """True while the process lives."""
        return self.finished is None


@dataclass(frozen=True, slots=True)
class Wanted:
    """One container of the pod; `pulling_for` counts seconds since its image was first asked for."""

    name: str
    image: str
    seen: Seen | None
    pulling_for: float = 0.0


@dataclass(frozen=True, slots=True)
class Start:
    """Start run `number` of a container."""

    container: str
    number: int
    streak: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a container does not run."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """Starts to make now, waiting containers, seconds until the next look (None: nothing to wait for), the end."""

    starts: tuple[Start, ...]
    waiting: dict[str, Waiting]
    look_again: float | None
    phase: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The pod's part of the decision; `backoff` is the first back-off in seconds (kubelet: 10)."""

    restart_policy: str = "Always"
    backoff: float = 10.0
    pod: str = ""


def decide(inits: Sequence[Wanted], mains: Sequence[Wanted], rules: Rules, now: float) -> Decision:
    """The next step of a pod that is not being deleted."""
    init_rules = rules if rules.restart_policy == "Never" else Rules("OnFailure", rules.backoff, rules.pod)
    for at, init in enumerate(inits):
        if init.seen is not None and init.seen.code == 0 and not init.seen.interrupted:
            continue
        step = _one(init, init_rules, now)
        if step == "failed":
            return Decision((), {each.name: Waiting("PodInitializing") for each in mains}, None, "Failed")
        waiting = {each.name: Waiting("PodInitializing") for each in [*inits[at + 1 :], *mains]}
        return _decision([(init, step)], waiting, "Pending")
    steps = [(main, _one(main, rules, now)) for main in mains]
    return _decision(steps, {}, _phase(mains, steps))


Step = Start | tuple[Waiting, float] | str


def _one(container: Wanted, rules: Rules, now: float) -> Step:
    """A start, (waiting, seconds to wait), or how it stands: running, succeeded, failed."""
    seen = container.seen
    if seen is not None and seen.running:
        return "running"
    if "does-not-exist" in container.image:
        return pull_failure(container.image, container.pulling_for, rules.backoff)
    if seen is None:
        return Start(container.name, 0, 0)
    return (
        Start(container.name, seen.number + 1, seen.streak) if seen.interrupted else _again(container, seen, rules, now)
    )


def _again(container: Wanted, seen: Seen, rules: Rules, now: float) -> Step:
    if rules.restart_policy == "Never" or (rules.restart_policy == "OnFailure" and seen.code == 0):
        return "failed" if seen.code else "succeeded"
    streak = 0 if seen.ran_for >= FORGET_AFTER else seen.streak
    pause = crash_backoff(streak, rules.backoff)
    left = (seen.finished or 0.0) + pause - now
    if left > 0:
        text = f"back-off {duration(pause)} restarting failed container={container.name} pod={rules.pod}"
        return Waiting("CrashLoopBackOff", text), left
    return Start(container.name, seen.number + 1, streak + 1)


def crash_backoff(streak: int, base: float) -> float:
    """Seconds between an end and the next start after `streak` restarts in a row: none at first, then doubling."""
    return 0.0 if streak == 0 else min(base * 2.0 ** min(streak - 1, 30), LONGEST_BACKOFF)


def pull_failure(image: str, waited: float, base: float) -> tuple[Waiting, float]:
    """An image that cannot be pulled: the error is shown at each try, the back-off between two tries."""
    tried, pause = 0.0, base
    while waited >= tried + pause:
        tried += pause
        pause = min(pause * 2, LONGEST_BACKOFF)
    shown = min(PULL_ERROR_SHOWN, base / 2)
    if waited - tried < shown:
        text = f'failed to pull and unpack image "{image}": {image}: not found'
        return Waiting("ErrImagePull", text), tried + shown - waited
    return Waiting("ImagePullBackOff", f'Back-off pulling image "{image}"'), tried + pause - waited


def duration(seconds: float) -> str:
    """Seconds as Go writes them: 10s, 1m20s, 5m0s, 500ms."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _decision(steps: Sequence[tuple[Wanted, Step]], waiting: dict[str, Waiting], phase: str) -> Decision:
    starts = [step for _, step in steps if isinstance(step, Start)]
    pauses = []
    for container, step in steps:
        if isinstance(step, tuple):
            waiting = {**waiting, container.name: step[0]}
            pauses.append(step[1])
    return Decision(tuple(starts), waiting, min(pauses, default=None), phase)


def _phase(mains: Sequence[Wanted], steps: Sequence[tuple[Wanted, Step]]) -> str:
    words = [step for _, step in steps]
    if all(word in ("succeeded", "failed") for word in words):
        return "Failed" if "failed" in words else "Succeeded"
    # A container that never ran keeps the pod Pending; one that crashed and waits counts as running.
    if any(main.seen is None and not isinstance(step, Start) for main, step in steps):
        return "Pending"
    return "Running"
