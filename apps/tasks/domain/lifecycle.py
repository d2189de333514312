"""Which verb is allowed when (domain.md §2): one table over state and intent, and why not, in words."""

from __future__ import annotations

from typing import Protocol

from apps.kernel.errors import Code, Refusal
from apps.kernel.text import say as _
from apps.tasks.domain.states import FINAL, Intent, State, Verb


class HasVerbs(Protocol):
    """What the table needs to know of a kind; ``tasks.kinds.base.Kind`` is one."""

    @property
    def name(self) -> str: ...
    @property
    def verbs(self) -> frozenset[Verb]: ...
    @property
    def restarts_in_place(self) -> bool: ...


ALWAYS = frozenset({Verb.CLONE, Verb.DELETE})
ON_FINISHED = ALWAYS | {Verb.RESTART}
WHILE_STOPPING = ALWAYS | {Verb.STOP, Verb.RENAME}


def _fault(verb: Verb, kind: HasVerbs, state: State, intent: Intent) -> str | None:
    if verb not in kind.verbs:
        return _("a %(kind)s cannot change in this way; clone it with changes", kind=str(kind.name))
    if state in FINAL:
        return None if verb in ON_FINISHED else _("the task has ended; it can be cloned, restarted or deleted")
    if intent is Intent.STOP:
        return None if verb in WHILE_STOPPING else _("the task is being stopped; wait until it has ended")
    if verb is Verb.RESUME and intent is not Intent.PAUSE:
        return _not_paused(state)
    if verb is Verb.RESTART:
        return _restart_fault(kind, state, intent)
    return None


def _not_paused(state: State) -> str:
    if state is State.PAUSED:
        return _("the task is scaled to 0, not paused; scale it up")
    return _("the task is not paused")


def _restart_fault(kind: HasVerbs, state: State, intent: Intent) -> str | None:
    if intent is Intent.PAUSE:
        return _("the task is paused; resume it instead")
    if state is State.QUEUED:
        return _("the task has not started yet; there is nothing to restart")
    if state is State.PAUSED and kind.restarts_in_place:
        return _("the task is scaled to 0; there is nothing to restart")
    return None


def verb_fault(verb: Verb, *, kind: HasVerbs, state: State, intent: Intent) -> Refusal | None:
    """Why the verb is refused now, or None. Pausing or stopping twice is harmless and no fault."""
    message = _fault(verb, kind, state, intent)
    if message is None:
        return None
    return Refusal(Code.INVALID_STATE, message, {}, {"verb": verb.value, "state": state.value})


def verb_faults(*, kind: HasVerbs, state: State, intent: Intent) -> dict[Verb, str | None]:
    """Every verb of the kind with the reason why it is refused now, None where it is allowed."""
    return {verb: _fault(verb, kind, state, intent) for verb in Verb if verb in kind.verbs}
