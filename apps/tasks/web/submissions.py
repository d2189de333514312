"""One submit of a form is one task, however often the button is pressed: the form carries a number of its own."""

from __future__ import annotations

import logging
from uuid import UUID

from django.core.cache import cache

log = logging.getLogger(__name__)
KEPT_SECONDS = 24 * 3600


def remember(user_pk: int, submission: str, task: UUID) -> None:
    """Note which task this form became; without a cache the unique live name still keeps a double away."""
    if submission:
        try:
            cache.set(_key(user_pk, submission), str(task), KEPT_SECONDS)
        except Exception:
            log.warning("submission_not_remembered", exc_info=True)


def became(user_pk: int, submission: str) -> UUID | None:
    """The task that this form has already become."""
    if not submission:
        return None
    try:
        found = cache.get(_key(user_pk, submission))
    except Exception:  # noqa: BLE001 - as above
        return None
    return UUID(found) if found else None


def _key(user_pk: int, submission: str) -> str:
    return f"submission:{user_pk}:{submission[:64]}"
