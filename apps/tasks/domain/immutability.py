"""What changed between two specs, and what of it may not (domain.md §2). Fields are named by their wire paths."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from apps.kernel.errors import Code, Refusal
from apps.kernel.text import say as _
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.wire import to_wire


@dataclass(frozen=True, slots=True)
class Difference:
    """One changed field as people read it; an empty text stands for a value that is not there."""

    path: str
    before: str
    after: str


class _Absent:
    """The value of a name or place that one side does not have."""


ABSENT = _Absent()


def _leaves(path: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _leaves(f"{path}.{name}" if path else str(name), old.get(name, ABSENT), new.get(name, ABSENT))
    elif _are_objects(old) and _are_objects(new):
        for place in range(max(len(old), len(new))):
            before = old[place] if place < len(old) else ABSENT
            after = new[place] if place < len(new) else ABSENT
            yield from _leaves(f"{path}.{place}", before, after)
    else:
        yield path, old, new


def _are_objects(value: object) -> TypeGuard[list[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(entry, Mapping) for entry in value)


def changed_fields(old: TaskSpec, new: TaskSpec) -> tuple[str, ...]:
    """The wire path of every difference, such as ``containers.0.image`` or ``resources.nodes``."""
    return tuple(path for path, _before, _after in _leaves("", to_wire(old), to_wire(new)))


def forbidden_changes(old: TaskSpec, new: TaskSpec, mutable: frozenset[str]) -> tuple[str, ...]:
    """The changed paths that are under none of the ``mutable`` wire names; empty for an unchanged spec."""
    return tuple(path for path in changed_fields(old, new) if path.partition(".")[0] not in mutable)


def immutable_refusal(paths: Sequence[str], kind: str) -> Refusal | None:
    """The refusal naming every offending field, or None when there is none (rest.md, ``immutable_field``)."""
    if not paths:
        return None
    message = _("cannot change on a running %(kind)s; clone it with changes", kind=kind)
    detail = _("%(paths)s: %(message)s", paths=", ".join(paths), message=message)
    return Refusal(Code.IMMUTABLE_FIELD, detail, {path: [message] for path in paths}, {"kind": kind})


def _shown(value: object) -> str:
    if value is ABSENT or value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def diff(old: TaskSpec, new: TaskSpec) -> tuple[Difference, ...]:
    """What changed, row by row, for people: a revision's diff before it is rolled out."""
    return tuple(
        Difference(path, _shown(before), _shown(after))
        for path, before, after in _leaves("", to_wire(old), to_wire(new))
    )
