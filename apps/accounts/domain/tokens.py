"""API tokens: what one looks like, how long it lives and what it may do (rest.md, issue 3 part 9)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from apps.kernel.errors import Code, Refusal
from apps.kernel.text import say as _

LEADER = "ptk_"
PREFIX_LENGTH = 12
SECRET_BYTES = 30
LONGEST_TOKEN = 100
LONGEST_NAME = 60
DEFAULT_LIFE = timedelta(days=90)
LONGEST_LIFE = timedelta(days=365)
USE_NOTED_EVERY = timedelta(minutes=1)


class Scope(StrEnum):
    """What a token may be used for; within it, its owner's own rights still decide."""

    TASKS_READ = "tasks:read"
    TASKS_WRITE = "tasks:write"
    LOGS_READ = "logs:read"
    QUOTAS_READ = "quotas:read"
    QUOTAS_WRITE = "quotas:write"
    PROJECTS_READ = "projects:read"
    PROJECTS_WRITE = "projects:write"
    CLUSTERS_READ = "clusters:read"
    CLUSTERS_WRITE = "clusters:write"


def token_text(secret: str) -> str:
    """The token as its owner sees it once: a leader that scanners for leaked secrets can find, then chance."""
    return f"{LEADER}{secret}"


def digest(text: str) -> str:
    """What is kept of a token: SHA-256 in hexadecimal. Its 240 random bits need no slow hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plausible(text: str) -> bool:
    """Whether the text could be a token at all, before any look-up."""
    return text.startswith(LEADER) and len(text) <= LONGEST_TOKEN and text.isascii()


def usable(*, expires_at: datetime, revoked_at: datetime | None, now: datetime) -> bool:
    """Whether a token may be used now: not expired, not revoked."""
    return revoked_at is None and now < expires_at


def use_is_worth_noting(last_used_at: datetime | None, now: datetime) -> bool:
    """Whether ``last_used_at`` is old enough to be written again: once a minute, not once a request."""
    return last_used_at is None or now - last_used_at >= USE_NOTED_EVERY


def token_fault(name: str, scopes: Iterable[str], life: timedelta) -> Refusal | None:
    """Why a token may not be made like this: each fault under its field."""
    fields: dict[str, list[str]] = {}
    if not name.strip() or len(name) > LONGEST_NAME or "\x00" in name:
        fields["name"] = [_("a name of 1 to %(longest)d characters is needed", longest=LONGEST_NAME)]
    wanted, known = set(scopes), {scope.value for scope in Scope}
    if not wanted or not wanted <= known:
        fields["scopes"] = [_("choose at least one of %(known)s", known=", ".join(sorted(known)))]
    if not timedelta(0) < life <= LONGEST_LIFE:
        fields["days"] = [_("from 1 to %(longest)d days", longest=LONGEST_LIFE.days)]
    return Refusal(Code.INVALID, _("This token cannot be made."), fields) if fields else None
