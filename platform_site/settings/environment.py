"""Every setting that comes from the environment: its name, what it is for, and its default.

``docs/settings.md`` lists the same names; an architecture test compares the two. A name that starts with
``PLATFORM_`` and is not known here stops the start, so a typing error never passes silently.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

PREFIX = "PLATFORM_"


@dataclass(frozen=True, slots=True)
class Name:
    """One environment name; ``default`` None means that production must set it."""

    name: str
    purpose: str
    default: str | None = None


NAMES: tuple[Name, ...] = (
    Name("PLATFORM_SECRET_KEY", "signs sessions and forms; at least 50 random characters"),
    Name("PLATFORM_SEALING_KEYS", "comma-separated Fernet keys that seal credentials, the newest first"),
    Name("PLATFORM_DATABASE_URL", "PostgreSQL 15 or newer, postgres://user:password@host:port/name"),
    Name("PLATFORM_REDIS_URL", "Valkey or Redis 6.2 or newer: broker, channel layer and cache"),
    Name("PLATFORM_ALLOWED_HOSTS", "comma-separated host names that the web process answers to", "localhost,127.0.0.1"),
    Name("PLATFORM_ORIGINS", "comma-separated origins that forms may be sent from, with scheme", ""),
    Name("PLATFORM_HTTPS", "whether people reach the site over HTTPS (secure cookies, HSTS, redirects)", "true"),
    Name("PLATFORM_LOG_LEVEL", "DEBUG, INFO, WARNING or ERROR", "INFO"),
    Name("PLATFORM_ADMISSION_SECONDS", "longest time between two admission cycles", "5"),
    Name("PLATFORM_RECONCILE_SECONDS", "longest time between two looks at a task on a cluster", "5"),
    Name("PLATFORM_CLUSTER_TIMEOUT_SECONDS", "time-out of one call to a cluster", "10"),
    Name("PLATFORM_LOG_RETENTION_DAYS", "days for which log lines are kept", "30"),
    Name("PLATFORM_DEFAULT_QUOTA", "quota of a new scope, for example cpu=32,memory=128Gi,cards:a100-80g=2", ""),
)


def read(environment: Mapping[str, str] = os.environ, *, fallbacks: Mapping[str, str] | None = None) -> dict[str, str]:
    """All known names with their values; raises ImproperlyConfigured naming what is missing or unknown."""
    known = {name.name for name in NAMES}
    unknown = sorted(key for key in environment if key.startswith(PREFIX) and key not in known)
    if unknown:
        raise ImproperlyConfigured(f"unknown settings: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    values: dict[str, str] = {}
    missing: list[str] = []
    for name in NAMES:
        value = environment.get(name.name) or (fallbacks or {}).get(name.name) or name.default
        if value is None:
            missing.append(f"{name.name} ({name.purpose})")
        else:
            values[name.name] = value
    if missing:
        raise ImproperlyConfigured("settings missing from the environment: " + "; ".join(missing))
    return values
