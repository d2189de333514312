"""What a page says about a refusal or a reason, as values that templates/ui/ shows in one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext

from apps.kernel.errors import Refusal
from apps.kernel.text import translated


@dataclass(frozen=True, slots=True)
class Notice:
    """One box that says why: a tone, a sentence, and lines under it."""

    tone: str
    icon: str
    title: str
    token: str = ""
    lines: Sequence[str] = field(default_factory=tuple)


def refusal_notice(refusal: Refusal) -> Notice:
    """A refusal as the reader sees it at the top of a page."""
    title = said(refusal)
    lines = [translated(message, gettext) for messages in refusal.fields.values() for message in messages]
    return Notice("tone-red", "ban", title, refusal.code.value, tuple(line for line in lines if line != title))


def said(refusal: Refusal) -> str:
    """The refusal's sentence in the reader's language."""
    return translated(refusal.detail, gettext)


@dataclass(frozen=True, slots=True)
class Action:
    """A button for a verb: enabled, or disabled with the reason on hover."""

    verb: str
    label: str
    icon: str
    url: str
    fault: str = ""
    danger: bool = False
    confirm: str = ""


@dataclass(frozen=True, slots=True)
class Crumb:
    label: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    url: str
    current: bool = False


def numbers_in_words(numbers: Mapping[str, object]) -> list[str]:
    """The numbers behind a reason, one ``name: value`` each, nested values left to their own place."""
    return [f"{name}: {value}" for name, value in numbers.items() if isinstance(value, str | int)]
