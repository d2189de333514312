"""Whose turn it is: priority, fair share, submit time (domain.md §7)."""

from __future__ import annotations

import pytest

from apps.scheduling.domain.ordering import Shares, in_turn
from apps.scheduling.domain.snapshot import QueuedTask, RunningShare
from apps.tasks.domain.spec import Priority
from tests.support.plant import MARK, OWN, PUBLIC, a_cpu_node, a_node, a_task, bundle, share

NODES = (a_node("a"), a_cpu_node("c", cpu=10_000, memory=10_240))


def shares(*running: RunningShare) -> Shares:
    return Shares(NODES, (PUBLIC, OWN), running)


def order(*queued: QueuedTask, running: tuple[RunningShare, ...] = ()) -> str:
    return "".join(task.id for task in in_turn(queued, shares(*running)))


def test_priority_comes_first() -> None:
    tasks = (a_task("l", priority=Priority.LOW), a_task("n", at=5), a_task("h", at=9, priority=Priority.HIGH))
    assert order(*tasks) == "hnl"


def test_within_a_scope_the_first_submitted_comes_first() -> None:
    assert order(a_task("c", at=3), a_task("a", at=1), a_task("b", at=2)) == "abc"


def test_the_scope_with_the_smaller_share_comes_first() -> None:
    running = (RunningShare("p7", PUBLIC.id, MARK, share(4)),)
    assert order(a_task("a"), a_task("b", at=9, scope="p8"), running=running) == "ba"


def test_what_a_project_has_in_its_own_pool_does_not_count() -> None:
    running = (RunningShare("p7", OWN.id, MARK, share(4)),)
    assert order(a_task("a"), a_task("b", at=9, scope="p8"), running=running) == "ab"


def test_equal_moments_are_told_apart_by_identity() -> None:
    assert order(a_task("b"), a_task("a")) == "ab"


@pytest.mark.parametrize(
    ("amount", "mark", "expected"),
    [
        (bundle(), None, 0),
        (share(4), MARK, 500_000),
        (bundle(cpu=17_000), None, 100_000),
        (bundle(cards=1), "unknown", 1_000_000),
    ],
)
def test_the_dominant_share_is_the_largest_of_any_resource(amount: object, mark: str | None, expected: int) -> None:
    running = RunningShare("p7", PUBLIC.id, mark, amount)  # type: ignore[arg-type]  # the table mixes its columns
    assert shares(running).dominant("p7") == expected


def test_what_is_admitted_in_between_counts_for_the_next_turn() -> None:
    """Two scopes that both ask for three get their turns alternately, not one after the other."""
    held = shares()
    queued = [a_task(f"{scope}{turn}", at=turn, scope=scope) for scope in "ab" for turn in range(3)]
    turns = []
    for task in in_turn(queued, held):
        turns.append(task.id)
        held.add(task.scope, PUBLIC.id, MARK, share(1))
    assert turns == ["a0", "b0", "a1", "b1", "a2", "b2"]
