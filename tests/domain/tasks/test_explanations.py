"""Tokens as sentences: every reason has one, with its numbers where they are known."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.text import say
from apps.tasks.domain.spec import Priority
from apps.tasks.domain.states import Reason
from apps.tasks.explanations import (
    ADVICE,
    SENTENCES,
    advice,
    instance_sentence,
    priority_consequence,
    said,
    sentence,
)


@pytest.fixture(autouse=True)
def _english() -> Any:
    with translation.override("en"):
        yield


@pytest.mark.parametrize("token", Reason)
def test_every_reason_has_a_sentence_even_without_numbers(token: Reason) -> None:
    told = sentence(token, {})
    assert told.endswith(".")
    assert "{" not in told


@pytest.mark.parametrize(
    ("token", "numbers", "expected"),
    [
        (
            Reason.CRASH_LOOP,
            {"container": "web", "exit_code": 1, "restarts": 3},
            "Container web keeps crashing: exit code 1, 3 restarts.",
        ),
        (Reason.CRASH_LOOP, {"container": "web", "exit_code": 1}, "Container web keeps crashing: exit code 1."),
        (
            Reason.UPDATE_STUCK,
            {"updated": 1, "wanted": 3, "available": 2},
            "The update is stuck at 1 of 3; 2 instances serve.",
        ),
        (
            Reason.USER_QUOTA,
            {"resource": "cpu", "asked": 1500, "used": 4000, "limit": 4000},
            "Your own quota of CPU is used up: asked 1500m, held 4 of 4.",
        ),
        (
            Reason.PROJECT_QUOTA,
            {"resource": "memory", "asked": 1024, "used": 0, "limit": 512},
            "The project's quota of memory is used up: asked 1Gi, held 0Mi of 512Mi.",
        ),
        (
            Reason.PROJECT_QUOTA,
            {"resource": "cards:a100-80g", "asked": 2, "used": 3, "limit": 4},
            "The project's quota of a100-80g is used up: asked 2, held 3 of 4.",
        ),
        (
            Reason.POOL_FULL,
            {"pool": "public", "cluster": "b", "resource": "cards:a100-80g", "needed": 4, "free": 1},
            "Pool public on b has too little a100-80g free: needs 4, free are 1.",
        ),
        (Reason.CLUSTER_UNREACHABLE, {"clusters": ["a", "b"]}, "No cluster that fits answers: a, b."),
        (Reason.DEADLINE, {"seconds": 60}, "Ran longer than the 60 s allowed."),
        ("SandboxChanged", {}, "SandboxChanged"),
        ("", {}, ""),
    ],
)
def test_a_sentence_says_the_numbers_it_has(token: str, numbers: dict[str, Any], expected: str) -> None:
    assert sentence(token, numbers) == expected


@given(
    st.sampled_from([*SENTENCES, "x"]),
    st.dictionaries(st.sampled_from(["container", "asked", "resource", "pods"]), st.none() | st.text() | st.integers()),
)
def test_hostile_numbers_make_no_sentence_fail(token: str, numbers: dict[str, Any]) -> None:
    assert "\x00" not in sentence(token, numbers)


def test_advice_is_given_where_a_person_can_do_something() -> None:
    assert set(ADVICE) <= set(SENTENCES)
    assert advice(Reason.PAUSED) == "Resume it to queue again."
    assert advice("Starting") == ""


def test_an_instance_names_its_troubled_containers() -> None:
    rows: list[dict[str, object]] = [
        {
            "name": "web",
            "state": "waiting",
            "restarts": 2,
            "exit_code": 137,
            "reason": "CrashLoopBackOff",
            "init": False,
        },
        {"name": "side", "state": "running", "restarts": 0, "exit_code": None, "reason": ""},
        {"name": "odd", "state": None, "restarts": None, "exit_code": "x", "reason": None},
    ]
    assert instance_sentence("CrashLoopBackOff", [*rows, rows[0]]) == (
        "A container keeps crashing. "
        "container web: CrashLoopBackOff, exit 137 (killed), 2 restarts; "
        "container web: CrashLoopBackOff, exit 137 (killed), 2 restarts"
    )


@pytest.mark.parametrize("priority", Priority)
def test_every_priority_says_what_it_means(priority: Priority) -> None:
    assert priority_consequence(priority).endswith(".")


def test_what_the_domain_says_is_said_in_the_readers_language() -> None:
    assert said(say("at most %(n)d", n=3)) == "at most 3"
