"""Every word stands in 简体中文 too, with the same placeholders (docs/glossary.md has the terms)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|%%")
TRANSLATED = re.compile(r"""\{% translate (?:"([^"]+)"|'([^']+)')""")


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file, locale="zh_Hans")


def _forms(text: str | list[str] | tuple[str, ...] | None) -> list[str]:
    return [text] if isinstance(text, str) else list(text or [""])


def _messages(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def test_nothing_is_untranslated_or_a_guess(catalogue: Catalog) -> None:
    open_ones = [message.id for message in _messages(catalogue) if message.fuzzy or not all(_forms(message.string))]
    assert open_ones == []


def test_both_sides_have_the_same_placeholders(catalogue: Catalog) -> None:
    unequal = []
    for message in _messages(catalogue):
        asked = set(PLACEHOLDER.findall(_forms(message.id)[-1]))
        if any(set(PLACEHOLDER.findall(form)) != asked for form in _forms(message.string)):
            unequal.append(message.id)
    assert unequal == []


def test_every_word_of_a_template_is_in_the_catalogue(catalogue: Catalog) -> None:
    known = {_forms(message.id)[0] for message in _messages(catalogue)}
    used = {
        double or single
        for path in (ROOT / "templates").rglob("*.html")
        for double, single in TRANSLATED.findall(path.read_text())
    }
    assert sorted(used - known) == []
