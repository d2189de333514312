"""A form as flat values with messages and locks at their fields: what ``{% form_field %}`` shows.

For forms whose rules live in the domain (a task spec has the same ones over REST), so that there is nothing for a
Django form to know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from apps.kernel.text import translated


@dataclass(slots=True)
class FieldForm:
    """Values and ``errors`` by field name; ``lock`` says why a field may not be changed, or nothing.

    ``words`` are the labels by the parts of a name (``image`` for ``containers-0-image``), for the summary.
    """

    values: Mapping[str, str]
    errors: dict[str, list[str]] = field(default_factory=dict)
    general: list[str] = field(default_factory=list)
    lock: Callable[[str], str] = lambda _name: ""
    words: Mapping[str, object] = field(default_factory=dict)

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    def add(self, name: str, messages: Iterable[str]) -> None:
        """Put messages at a field, or above the form where they belong to none."""
        said = [translated(message, _) for message in messages]
        if name:
            self.errors.setdefault(name, []).extend(said)
        else:
            self.general.extend(said)

    def faults(self) -> list[tuple[str, str, str]]:
        """For the summary: the field's id, what to call it, and the message."""
        at_fields = [(name, self._called(name), message) for name, found in self.errors.items() for message in found]
        return [("", "", message) for message in self.general] + at_fields

    def _called(self, name: str) -> str:
        """A field's name for the summary: ``containers-0-env-1-name`` → ``Container 1 · Variable 2 · Name``."""
        said: list[str] = []
        for part in name.split("-"):
            if part.isdigit() and said:
                said[-1] = f"{said[-1]} {int(part) + 1}"
            else:
                said.append(str(self.words.get(part) or part.replace("_", " ")))
        return " · ".join(said)
