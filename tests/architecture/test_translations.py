"""Every word stands in 简体中文 too, with the same placeholders (docs/glossary.md has the terms)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|%%")
LITERAL = r"""u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
CALL = re.compile(rf"""\b(_|gettext|ngettext|pgettext|npgettext)\({LITERAL}(?:, {LITERAL})?""")
KEYWORDS = (
    DEFAULT_KEYWORDS
    | dict.fromkeys(("gettext_lazy", "gettext_noop"))
    | {
        "ngettext_lazy": (1, 2),
        "pgettext_lazy": ((1, "c"), 2),
    }
)


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


def test_every_word_of_templates_and_code_is_in_the_catalogue(catalogue: Catalog) -> None:
    known = {_forms(message.id)[0] for message in _messages(catalogue)}
    used = {word: place for place, words in _sources() for word in words}
    assert {word: place for word, place in used.items() if word not in known} == {}


def test_the_extractor_finds_what_there_is_to_find() -> None:
    page = """{% load i18n %}{% translate "one" %}{% blocktranslate with n=a.b %}two {{ n }}{% endblocktranslate %}
        {% blocktranslate count n=3 %}three{% plural %}threes{% endblocktranslate %}{{ _("four") }}
        {% blocktranslate trimmed %}
          fi"v\'e 5 %
        {% endblocktranslate %}{% translate 'six' context "of dice" %}{% if x == _('seven') %}{% endif %}"""
    code = """_("a" ' b', n=1); gettext_lazy("c"); ngettext("d", "ds", 2); pgettext("e", "f"); other("g")"""
    assert _words_of_page(page) == {"one", "two %(n)s", "three", "four", "fi\"v'e 5 %%", "six", "seven"}
    assert _words_of_code(code.encode()) == {"a b", "c", "d", "f"}


def _sources() -> Iterator[tuple[str, set[str]]]:
    for path in sorted((ROOT / "templates").rglob("*.*")):
        yield str(path.relative_to(ROOT)), _words_of_page(path.read_text())
    for folder in ("apps", "platform_site"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), _words_of_code(path.read_bytes())


def _words_of_page(text: str) -> set[str]:
    """What Django's own preparation for xgettext makes of a template, read for its calls."""
    words = set()
    for function, first, second in CALL.findall(templatize(text)):
        words.add(ast.literal_eval(second if function.startswith(("pg", "npg")) else first))
    return words


def _words_of_code(source: bytes) -> set[str]:
    found = extract("python", BytesIO(source), keywords=KEYWORDS, options={"encoding": "utf-8"})
    return {_forms(message)[0] for _line, message, _comments, _context in found}
