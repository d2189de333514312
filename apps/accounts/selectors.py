"""Tokens as their owners see them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from apps.accounts.domain import tokens
from apps.accounts.models import ApiToken, Theme, User

THEMES = Theme.choices


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """The person's tokens, the newest first, with those that no longer work."""
    return ApiToken.objects.filter(owner=user).order_by("-created_at", "-pk")


def usable_token(text: str, *, now: datetime) -> ApiToken | None:
    """The token with its owner, or None when it is unknown, revoked, expired or its owner may no longer sign in."""
    if not tokens.plausible(text):
        return None
    found = ApiToken.objects.select_related("owner").filter(digest=tokens.digest(text)).first()
    if found is None or not found.owner.is_active:
        return None
    return found if tokens.usable(expires_at=found.expires_at, revoked_at=found.revoked_at, now=now) else None


def person_named(name: str) -> User | None:
    """The person of that user name who may sign in."""
    return User.objects.filter(username=name, is_active=True).first()
