"""What the agent does with a pod next: restart policies, back-offs, init containers, phases. Pure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkube.agent.decide import (
    LONGEST_BACKOFF,
    Decision,
    Rules,
    Seen,
    Start,
    Waiting,
    Wanted,
    crash_backoff,
    decide,
    duration,
    pull_failure,
)


def main(seen: Seen | None = None, name: str = "main", image: str = "busybox", pulling_for: float = 0.0) -> Wanted:
    return Wanted(name, image, seen, pulling_for)


def ended(code: int, *, number: int = 0, at: float = 100.0, streak: int = 0, ran_for: float = 1.0) -> Seen:
    return Seen(number, code, at, ran_for, streak)


def test_a_new_pod_starts_all_its_containers_at_once() -> None:
    decision = decide([], [main(), main(name="side")], Rules(), 0)
    assert decision == Decision((Start("main", 0, 0), Start("side", 0, 0)), {}, None, "Running")


def test_init_containers_run_one_after_another_before_the_others() -> None:
    inits = [main(ended(0), name="one"), main(name="two"), main(name="three")]
    waiting = {"three": Waiting("PodInitializing"), "main": Waiting("PodInitializing")}
    assert decide(inits, [main()], Rules(), 200) == Decision((Start("two", 0, 0),), waiting, None, "Pending")


def test_a_failed_init_container_of_a_pod_that_never_restarts_fails_the_pod() -> None:
    decision = decide([main(ended(3), name="one")], [main()], Rules("Never"), 200)
    assert (decision.phase, decision.starts) == ("Failed", ())


@pytest.mark.parametrize(
    ("policy", "code", "phase", "starts"),
    [
        ("Never", 0, "Succeeded", ()),
        ("Never", 1, "Failed", ()),
        ("OnFailure", 0, "Succeeded", ()),
        ("OnFailure", 1, "Running", (Start("main", 1, 1),)),
        ("Always", 0, "Running", (Start("main", 1, 1),)),
        ("Always", 137, "Running", (Start("main", 1, 1),)),
    ],
)
def test_the_restart_policy_decides_after_an_end(policy: str, code: int, phase: str, starts: tuple[Start, ...]) -> None:
    assert decide([], [main(ended(code))], Rules(policy), 200) == Decision(starts, {}, None, phase)


def test_a_pod_is_failed_only_when_its_last_container_has_ended() -> None:
    decision = decide([], [main(ended(1)), main(Seen(0), name="side")], Rules("Never"), 200)
    assert decision == Decision((), {}, None, "Running")


def test_a_second_crash_waits_in_crash_loop_back_off() -> None:
    decision = decide([], [main(ended(1, number=1, streak=1))], Rules(pod="p_ns(u)"), 104)
    waiting = Waiting("CrashLoopBackOff", "back-off 10s restarting failed container=main pod=p_ns(u)")
    assert decision == Decision((), {"main": waiting}, 6.0, "Running")


def test_ten_minutes_of_running_forget_the_crashes_before() -> None:
    seen = ended(1, number=7, streak=7, ran_for=600)
    assert decide([], [main(seen)], Rules(), 100).starts == (Start("main", 8, 1),)


def test_what_the_agent_interrupted_runs_again_even_when_the_pod_never_restarts() -> None:
    seen = Seen(0, 143, 100.0, 1.0, 0, interrupted=True)
    assert decide([], [main(seen)], Rules("Never"), 100).starts == (Start("main", 1, 0),)


def test_an_image_that_does_not_exist_keeps_the_pod_pending() -> None:
    decision = decide([], [main(image="registry/does-not-exist:1", pulling_for=5)], Rules(), 0)
    text = 'Back-off pulling image "registry/does-not-exist:1"'
    assert decision == Decision((), {"main": Waiting("ImagePullBackOff", text)}, 5.0, "Pending")


def test_a_pull_error_is_shown_at_each_try() -> None:
    reasons = [pull_failure("x", waited, 10)[0].reason for waited in (0, 1.9, 2, 9.9, 10, 12, 29.9, 30)]
    back_off, error = "ImagePullBackOff", "ErrImagePull"
    assert reasons == [error, error, back_off, back_off, error, back_off, back_off, error]


@given(st.integers(0, 200), st.floats(0.01, 60))
def test_the_crash_back_off_never_shrinks_and_has_an_end(streak: int, base: float) -> None:
    assert 0 <= crash_backoff(streak, base) <= crash_backoff(streak + 1, base) <= LONGEST_BACKOFF


@given(st.floats(0, 10_000), st.floats(0.1, 60))
def test_after_the_wait_that_a_pull_failure_names_it_says_something_else(waited: float, base: float) -> None:
    now, left = pull_failure("x", waited, base)
    assert left > 0
    assert pull_failure("x", waited + left + 1e-6, base)[0] != now


def test_durations_are_written_as_go_writes_them() -> None:
    assert [duration(each) for each in (0.5, 10, 80, 300)] == ["500ms", "10s", "1m20s", "5m0s"]
