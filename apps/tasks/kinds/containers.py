"""Containers of a recorded pod: what each does, which is the worst, and how it ended in words (domain.md §11)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.kernel.text import say as _
from apps.tasks.kinds.base import ContainerStatus
from apps.tasks.kinds.raw import EMPTY, count, entries, inner, text, whole

IMAGE_REASONS = frozenset(
    {
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "ErrImageNeverPull",
        "RegistryUnavailable",
        "ImageInspectError",
        "SignatureValidationFailed",
    }
)
CRASH_LOOP = "CrashLoopBackOff"
# The container's command, mounts or settings keep it from ever running; the first three also end it with exit 128.
START_FAULTS = frozenset(
    {
        "StartError",
        "RunContainerError",
        "ContainerCannotRun",
        "CreateContainerConfigError",
        "CreateContainerError",
        "PreCreateHookError",
        "PreStartHookError",
        "PostStartHookError",
    }
)
OUT_OF_MEMORY = "OOMKilled"
# What a healthy container says while it comes up.
QUIET_REASONS = frozenset({"", "ContainerCreating", "PodInitializing"})
LONGEST_MESSAGE = 1000
LONGEST_REASON = 60
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SIGNALS = {
    1: _("hung up"),
    2: _("interrupted"),
    3: _("quit"),
    4: _("illegal instruction"),
    6: _("aborted"),
    7: _("bus error"),
    8: _("arithmetic error"),
    9: _("killed"),
    11: _("segmentation fault"),
    13: _("broken pipe"),
    14: _("alarm"),
    15: _("asked to end"),
}


def bounded(message: str, longest: int = LONGEST_MESSAGE) -> str:
    """Untrusted text from a cluster: no control characters, no lone surrogates, short."""
    return _CONTROL.sub(" ", message[:longest])


def exit_words(code: int, reason: str = "") -> str:
    """An exit code for people: ``exit 1``, ``exit 137 (killed: out of memory)``, ``exit 143 (asked to end)``."""
    if reason == OUT_OF_MEMORY:
        return _("exit %(code)d (killed: out of memory)", code=code)
    if 128 < code <= 128 + 64:
        signal = code - 128
        return _("exit %(code)d (%(signal)s)", code=code, signal=_SIGNALS.get(signal) or _("signal %(n)d", n=signal))
    return _("exit %(code)d", code=code)


def _read(status: Mapping[str, Any], *, init: bool) -> ContainerStatus:
    """One container. While it waits, the exit code and cause of its last end are what people need."""
    name, restarts, state = bounded(text(status, "name"), 63), count(status, "restartCount"), inner(status, "state")
    ended, waiting = inner(state, "terminated"), inner(state, "waiting")
    last = inner(status, "lastState", "terminated")
    if state.get("terminated") is not None:
        word, told, code = "terminated", ended, whole(ended, "exitCode")
    elif inner(state, "running") or state.get("running") is not None:
        word, told, code = "running", EMPTY, whole(last, "exitCode")
    else:
        word, told, code = "waiting", waiting, whole(last, "exitCode")
    reason = bounded(text(told, "reason"), LONGEST_REASON)
    # "back-off 10s restarting failed container" says less than what the container's last end said.
    tellers = (last, told) if reason == CRASH_LOOP else (told, last)
    message = next((words for words in (text(one, "message") for one in tellers) if words), "")
    cause = reason if word == "terminated" else bounded(text(last, "reason"), LONGEST_REASON)
    return ContainerStatus(name, word, restarts, code, reason, bounded(message), init, cause)


def read_containers(pod: Mapping[str, Any]) -> tuple[ContainerStatus, ...]:
    """Init containers first, then the others, as the pod lists them."""
    return (
        *(_read(status, init=True) for status in entries(pod, "status", "initContainerStatuses")),
        *(_read(status, init=False) for status in entries(pod, "status", "containerStatuses")),
    )


def failed(container: ContainerStatus) -> bool:
    return container.state == "terminated" and container.exit_code != 0


def ends(pod: Mapping[str, Any]) -> dict[str, str]:
    """When each ended container ended, as the cluster writes it: the first to fail took the others along."""
    statuses = [*entries(pod, "status", "initContainerStatuses"), *entries(pod, "status", "containerStatuses")]
    return {text(status, "name"): text(status, "state", "terminated", "finishedAt") for status in statuses}


def first_failed(containers: Iterable[ContainerStatus], ended_at: Mapping[str, str]) -> ContainerStatus | None:
    """The container that failed first; where times are missing, the earlier one in the pod."""
    broken = [container for container in containers if failed(container)]
    return min(broken, key=lambda container: ended_at.get(container.name) or "~", default=None)


def unstartable(container: ContainerStatus) -> str:
    """The cluster's word for what keeps the container from starting, now or at its last try; empty if it can start."""
    words = () if container.state == "running" else (container.reason, container.cause)
    return next((word for word in words if word in START_FAULTS), "")


def waiting_for(containers: Iterable[ContainerStatus], reasons: frozenset[str]) -> ContainerStatus | None:
    """The first container that waits for one of these reasons."""
    return next((one for one in containers if one.state == "waiting" and one.reason in reasons), None)


def told_by(container: ContainerStatus) -> str:
    """One sentence about a troubled container: named, with its exit code and restarts."""
    kind = _("init container") if container.init else _("container")
    parts: list[str] = []
    if container.state == "waiting":
        parts.append(container.reason)
    fault = unstartable(container)
    if fault and fault not in parts:
        parts.append(fault)
    if container.exit_code is not None:
        parts.append(exit_words(container.exit_code, container.cause))
    if container.restarts:
        parts.append(_("%(n)d restarts", n=container.restarts))
    return _("%(kind)s %(name)s: %(what)s", kind=kind, name=container.name, what=_listed(parts))


def _listed(parts: Sequence[str]) -> str:
    """The parts with commas between them, each still to be said in the reader's language."""
    told = parts[0] if parts else ""
    for part in parts[1:]:
        told = _("%(first)s, %(next)s", first=told, next=part)
    return told
