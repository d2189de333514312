"""Issue and revoke API tokens; each verb is one transaction with its audit row."""

from __future__ import annotations

import secrets
import zoneinfo
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.accounts.domain import tokens
from apps.accounts.models import ApiToken, Theme, User
from apps.audit import services as audit
from apps.kernel.errors import Refused


@transaction.atomic
def issue_token(
    owner: User,
    *,
    name: str,
    scopes: Iterable[str],
    by: User,
    now: datetime,
    life: timedelta = tokens.DEFAULT_LIFE,
    source: str = "",
) -> tuple[ApiToken, str]:
    """A new token and its text, which is shown once and kept nowhere; raises Refused (invalid)."""
    wanted = sorted(set(scopes))
    fault = tokens.token_fault(name, wanted, life)
    if fault is not None:
        raise Refused(fault)
    text = tokens.token_text(secrets.token_urlsafe(tokens.SECRET_BYTES))
    token = ApiToken.objects.create(
        owner=owner,
        name=name.strip(),
        prefix=text[: tokens.PREFIX_LENGTH],
        digest=tokens.digest(text),
        scopes=wanted,
        created_at=now,
        expires_at=now + life,
    )
    after = {"owner": owner.username, "scopes": wanted, "expires_at": token.expires_at.isoformat()}
    audit.record("token.issued", on=token, by=by, now=now, after=after, source=source)
    return token, text


def issue_full_token(user: User, *, name: str, now: datetime) -> str:
    """The text of a new token with every scope, for the longest time."""
    _token, text = issue_token(user, name=name, scopes=tokens.Scope, by=user, now=now, life=tokens.LONGEST_LIFE)
    return text


@transaction.atomic
def revoke_token(token: ApiToken, *, by: User, now: datetime, source: str = "") -> None:
    """End a token for good; a revoked one stays revoked since when it was."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        audit.record("token.revoked", on=token, by=by, now=now, source=source)
    token.refresh_from_db(fields=["revoked_at"])


def note_use(token: ApiToken, *, now: datetime) -> None:
    """Remember that the token was used, at most once a minute, so that reading does not become writing."""
    if tokens.use_is_worth_noting(token.last_used_at, now):
        seen = token.last_used_at
        ApiToken.objects.filter(pk=token.pk, last_used_at=seen).update(last_used_at=now)


def set_preferences(user: User, *, language: str, theme: str, time_zone: str) -> None:
    """How the person wants pages to look; a word that is no language, theme or zone means the default."""
    languages = {code for code, _name in settings.LANGUAGES}
    User.objects.filter(pk=user.pk).update(
        language=language if language in languages else "",
        theme=theme if theme in Theme.values else Theme.AUTO,
        time_zone=time_zone if time_zone in zoneinfo.available_timezones() else "",
    )
