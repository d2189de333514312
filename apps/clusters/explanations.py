"""A check list in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext

from apps.clusters.domain.checklist_rows import Check
from apps.clusters.domain.checklist_words import explained
from apps.kernel.text import translated


def described(checks: Iterable[Check]) -> list[dict[str, Any]]:
    """Each row with its words: ``title``, ``text``, and where something is to be done ``fix`` and ``command``."""
    return [_described(check) for check in checks]


def _described(check: Check) -> dict[str, Any]:
    told = explained(check)
    return {
        "name": check.name,
        "state": check.state.value,
        "token": check.token,
        "title": translated(told.title, gettext),
        "text": translated(told.sentence, gettext),
        "fix": translated(told.remedy, gettext) if told.remedy is not None else "",
        "command": told.command,
        "numbers": dict(check.numbers),
    }
