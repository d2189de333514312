"""Fields of the spec that mean nothing for a kind: given all the same, they are refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from apps.kernel.errors import Code, Refusal
from apps.kernel.text import say as _
from apps.tasks.domain.spec import TaskSpec

_DEFAULTS: dict[str, Any] = {field.name: field.default for field in fields(TaskSpec)}


def given(spec: TaskSpec, path: str) -> bool:
    """Whether the spec says something under the path: another value than the default, or a name in ``advanced``."""
    name, dot, inner = path.partition(".")
    if dot:
        return inner in spec.advanced
    return bool(getattr(spec, name) != _DEFAULTS[name])


def foreign_fault(spec: TaskSpec, paths: Sequence[str]) -> Refusal | None:
    """One refusal naming every given field of ``paths``, or None."""
    found = [path for path in paths if given(spec, path)]
    if not found:
        return None
    message = _("means nothing for a %(kind)s", kind=spec.kind.value)
    return Refusal(
        Code.INVALID, _("%(path)s: %(message)s", path=found[0], message=message), {path: [message] for path in found}
    )
