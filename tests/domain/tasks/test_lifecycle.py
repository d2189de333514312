"""Which verb is allowed when (domain.md §2)."""

from __future__ import annotations

import pytest

from apps.kernel.errors import Code
from apps.tasks.domain.lifecycle import verb_fault, verb_faults
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import FINAL, Intent, State, Verb
from apps.tasks.kinds.registry import KINDS

JOB, DEPLOYMENT = KINDS[KindName.JOB], KINDS[KindName.DEPLOYMENT]
BOTH = pytest.mark.parametrize("kind", [JOB, DEPLOYMENT], ids=["Job", "Deployment"])


def allowed(kind: object, state: State, intent: Intent = Intent.RUN) -> set[Verb]:
    return {verb for verb, fault in verb_faults(kind=kind, state=state, intent=intent).items() if fault is None}  # type: ignore[arg-type] # the parametrised kinds are Kinds


@BOTH
@pytest.mark.parametrize("state", sorted(FINAL))
@pytest.mark.parametrize("intent", Intent)
def test_on_a_finished_task_only_clone_restart_and_delete_are_left(kind: object, state: State, intent: Intent) -> None:
    assert allowed(kind, state, intent) == {Verb.CLONE, Verb.RESTART, Verb.DELETE}


@pytest.mark.parametrize("state", [State.STARTING, State.RUNNING])
def test_a_running_job_may_do_all_but_resume(state: State) -> None:
    assert allowed(JOB, state) == JOB.verbs - {Verb.RESUME}


@pytest.mark.parametrize("state", [State.STARTING, State.RUNNING, State.UPDATING, State.DEGRADED])
def test_a_running_deployment_may_do_all_but_resume(state: State) -> None:
    assert allowed(DEPLOYMENT, state) == set(Verb) - {Verb.RESUME}


@BOTH
@pytest.mark.parametrize("state", [State.PAUSING, State.PAUSED])
def test_pausing_twice_is_harmless_and_a_paused_task_resumes(kind: object, state: State) -> None:
    verbs = allowed(kind, state, Intent.PAUSE)
    assert {Verb.PAUSE, Verb.RESUME, Verb.STOP} <= verbs
    assert Verb.RESTART not in verbs


@BOTH
def test_stopping_twice_is_harmless_and_nothing_else_interrupts_it(kind: object) -> None:
    assert allowed(kind, State.STOPPING, Intent.STOP) == {Verb.STOP, Verb.RENAME, Verb.CLONE, Verb.DELETE}


@pytest.mark.parametrize(
    ("verb", "state", "intent", "detail"),
    [
        (Verb.RESUME, State.RUNNING, Intent.RUN, "the task is not paused"),
        (Verb.RESUME, State.PAUSED, Intent.RUN, "the task is scaled to 0, not paused; scale it up"),
        (Verb.RESTART, State.PAUSED, Intent.RUN, "the task is scaled to 0; there is nothing to restart"),
        (Verb.RESTART, State.PAUSED, Intent.PAUSE, "the task is paused; resume it instead"),
        (Verb.RESTART, State.QUEUED, Intent.RUN, "the task has not started yet; there is nothing to restart"),
        (Verb.PAUSE, State.SUCCEEDED, Intent.RUN, "the task has ended; it can be cloned, restarted or deleted"),
        (Verb.PAUSE, State.STOPPING, Intent.STOP, "the task is being stopped; wait until it has ended"),
    ],
)
def test_a_refused_verb_says_why(verb: Verb, state: State, intent: Intent, detail: str) -> None:
    found = verb_fault(verb, kind=DEPLOYMENT, state=state, intent=intent)
    assert found is not None
    assert (found.code, found.detail, dict(found.numbers)) == (
        Code.INVALID_STATE,
        detail,
        {"verb": verb.value, "state": state.value},
    )


@pytest.mark.parametrize("verb", [Verb.SCALE, Verb.EDIT, Verb.ROLLBACK])
def test_what_a_job_cannot_do_points_to_clone(verb: Verb) -> None:
    found = verb_fault(verb, kind=JOB, state=State.RUNNING, intent=Intent.RUN)
    assert found is not None
    assert found.detail == "a Job cannot change in this way; clone it with changes"


def test_an_allowed_verb_has_no_fault() -> None:
    assert verb_fault(Verb.PAUSE, kind=JOB, state=State.QUEUED, intent=Intent.RUN) is None
