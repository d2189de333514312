"""Hostile YAML as texts, lists and mappings: bounded in size, depth and number, no alias, no tag, no key twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

Tree = str | list["Tree"] | dict[str, "Tree"]
LARGEST = 256 * 1024
DEEPEST = 16
MOST_EVENTS = 10_000
NOTHING = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class YamlFault:
    """Why a text is not taken: ``token`` is not_yaml, aliases, too_deep, too_many, twice or documents; line from 1."""

    token: str
    line: int = 0
    name: str = ""


class _Unfit(Exception):
    """Carries a YamlFault out of the reading."""

    def __init__(self, fault: YamlFault) -> None:
        super().__init__(fault.token)
        self.fault = fault


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet; ``key`` waits for its value."""

    value: list[Tree] | dict[str, Tree]
    key: str | None = None

    def put(self, found: Tree, line: int) -> None:
        if isinstance(self.value, list):
            self.value.append(found)
        elif self.key is None:
            if not isinstance(found, str):
                raise _Unfit(YamlFault("not_yaml", line))
            if found in self.value:
                raise _Unfit(YamlFault("twice", line, found[:60]))
            self.key = found
        else:
            self.value[self.key] = found
            self.key = None


@dataclass(slots=True)
class _Builder:
    stack: list[_Open] = field(default_factory=lambda: [_Open([])])

    def take(self, event: Any, line: int) -> None:
        match event:
            case AliasEvent():
                raise _Unfit(YamlFault("aliases", line))
            case ScalarEvent():
                plain = event.style is None or event.style == ""
                self.stack[-1].put("" if plain and event.value in NOTHING else str(event.value), line)
            case MappingStartEvent() | SequenceStartEvent():
                if len(self.stack) > DEEPEST:
                    raise _Unfit(YamlFault("too_deep", line))
                self.stack.append(_Open({} if isinstance(event, MappingStartEvent) else []))
            case MappingEndEvent() | SequenceEndEvent():
                done = self.stack.pop()
                self.stack[-1].put(done.value, line)


def read_tree(text: str) -> Tree | YamlFault:
    """The one document in the text; every scalar stays text, so nothing is ever built from what it says."""
    try:
        return _built(YAML(typ="safe", pure=True).parse(StringIO(text)))
    except _Unfit as unfit:
        return unfit.fault
    except MarkedYAMLError as fault:
        mark: Any = fault.problem_mark
        return YamlFault("not_yaml", mark.line + 1 if mark else 0)
    except Exception:  # noqa: BLE001 - the library's scanner raises anything at all for hostile text; none may get out
        return YamlFault("not_yaml")


def _built(events: Iterable[Any]) -> Tree:
    builder, documents = _Builder(), 0
    for number, event in enumerate(events):
        line = event.start_mark.line + 1 if event.start_mark else 0
        documents += isinstance(event, DocumentStartEvent)
        if documents > 1:
            raise _Unfit(YamlFault("documents", line))
        if number > MOST_EVENTS:
            raise _Unfit(YamlFault("too_many", line))
        builder.take(event, line)
    whole = builder.stack[0].value
    return whole[0] if isinstance(whole, list) and whole else ""
