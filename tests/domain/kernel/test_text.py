"""Sentences of the domain's that can be said in another language."""

from __future__ import annotations

from datetime import UTC

from apps.kernel import clock, ids
from apps.kernel.errors import Code, Refused, refuse
from apps.kernel.text import say, translated

CHINESE = {
    "at most %(longest)d characters": "最多 %(longest)d 个字符",
    "%(path)s: %(message)s": "%(path)s：%(message)s",
    "is needed": "必填",
}


def chinese(message: str) -> str:
    return CHINESE.get(message, message)


def test_a_sentence_is_plain_english_to_whoever_does_not_translate() -> None:
    assert say("at most %(longest)d characters", longest=63) == "at most 63 characters"
    assert say("100% of it") == "100% of it"


def test_a_sentence_is_said_in_the_readers_language_with_its_values() -> None:
    assert translated(say("at most %(longest)d characters", longest=63), chinese) == "最多 63 个字符"


def test_a_sentence_within_a_sentence_is_translated_too() -> None:
    inner = say("is needed")
    assert translated(say("%(path)s: %(message)s", path="shm", message=inner), chinese) == "shm：必填"


def test_a_text_that_no_one_said_is_looked_up_as_it_stands() -> None:
    assert translated("is needed", chinese) == "必填"


def test_a_refusal_travels_from_a_service_with_everything_it_knows() -> None:
    refused = refuse(Code.INVALID, "no", fields={"shm": ["too much"]}, asked=4)
    assert isinstance(refused, Refused)
    assert (refused.refusal.code, refused.refusal.fields, refused.refusal.numbers) == (
        Code.INVALID,
        {"shm": ["too much"]},
        {"asked": 4},
    )


def test_the_clock_and_chance_have_one_home_outside_the_domain() -> None:
    assert clock.now().tzinfo is UTC
    assert len(ids.name_entropy()) == 5
    assert ids.new_id() != ids.new_id()
