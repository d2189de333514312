"""Sentences for people made by pure code: English as they stand, with what is needed to say them in another language.

Domain code imports ``say`` as ``_``, so that the catalogue's extractor finds the template; delivery calls
``translated``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Said(str):
    """A finished English sentence that remembers its template and the values put into it."""

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, object]


def say(template: str, **values: object) -> Said:
    """The sentence from a ``%(name)s`` template; a template without values is taken letter for letter."""
    said = Said(template % values if values else template)
    said.template, said.values = template, values
    return said


def translated(message: str, gettext: Callable[[str], str]) -> str:
    """The message in the reader's language, by the catalogue's ``gettext``; plain text is looked up as it stands."""
    if not isinstance(message, Said):
        return gettext(message)
    template = gettext(message.template)
    values = {
        name: translated(value, gettext) if isinstance(value, Said) else value for name, value in message.values.items()
    }
    return template % values if values else template
