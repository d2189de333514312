"""The circuit breaker: a dead cluster costs nothing, a living one is never shut out (F17)."""

from __future__ import annotations

import pytest

from apps.clusters.gateway.breaker import Breaker
from apps.clusters.gateway.port import CircuitOpen, Conflict, Forbidden, GatewayError, Rejected, Transient


class Clock:
    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def tried(breaker: Breaker, error: GatewayError | None = None) -> str:
    """How one call went: its error's name, or ``ok``."""
    try:
        with breaker.guard():
            if error is not None:
                raise error
    except GatewayError as raised:
        return type(raised).__name__
    return "ok"


def test_opens_after_three_silences_and_then_does_not_even_try() -> None:
    breaker = Breaker(clock=Clock())
    silent = [tried(breaker, Transient("timed out")) for _ in range(3)]
    assert [*silent, tried(breaker)] == ["Transient", "Transient", "Transient", "CircuitOpen"]


def test_lets_one_probe_through_and_closes_when_it_is_answered() -> None:
    clock = Clock()
    breaker = Breaker(pause=5, clock=clock)
    for _ in range(3):
        tried(breaker, Transient("timed out"))
    clock.at = 6
    with breaker.guard():
        during = tried(breaker)
    assert (during, tried(breaker), tried(breaker)) == ("CircuitOpen", "ok", "ok")


def test_a_failing_probe_doubles_the_pause_up_to_its_limit() -> None:
    clock = Clock()
    breaker = Breaker(pause=5, longest_pause=20, clock=clock)
    for _ in range(3):
        tried(breaker, Transient("timed out"))
    waits = []
    for _ in range(4):
        with pytest.raises(CircuitOpen) as refused, breaker.guard():
            pass
        waits.append(refused.value.retry_after)
        clock.at += refused.value.retry_after or 0
        tried(breaker, Transient("timed out"))
    assert waits == [5, 10, 20, 20]


@pytest.mark.parametrize(
    "answer",
    [
        Forbidden("no", 403),
        Rejected("never", 422),
        Conflict("first", 409),
        Transient("slow down", 429),
        Transient("namespace goes", 403),
    ],
)
def test_an_answer_that_is_a_refusal_never_opens_it(answer: GatewayError) -> None:
    breaker = Breaker(clock=Clock())
    for _ in range(10):
        tried(breaker, answer)
    assert tried(breaker) == "ok"


def test_silences_far_apart_do_not_add_up() -> None:
    clock = Clock()
    breaker = Breaker(window=30, clock=clock)
    for _ in range(5):
        tried(breaker, Transient("timed out"))
        clock.at += 31
    assert tried(breaker) == "ok"
