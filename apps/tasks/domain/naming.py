"""Names and labels that the platform gives on a cluster (domain.md §3); objects are found by label, never by prefix."""

from __future__ import annotations

import hashlib

LABEL_TASK = "platform/task-id"
LABEL_ATTEMPT = "platform/attempt"
LABEL_SCOPE = "platform/scope"
LABEL_POOL = "platform/pool"
ANNOTATION_REVISION = "platform/revision"
ANNOTATION_SHAPE = "platform/shape"
ANNOTATION_RESTARTS = "platform/restarts"
OWN_PREFIX = "platform/"
LABEL_LENGTH = 63


def _bounded(name: str) -> str:
    """At most 63 characters: a longer name is cut and told apart by a hash of the whole (F28)."""
    if len(name) <= LABEL_LENGTH:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{name[: LABEL_LENGTH - 11].rstrip('-')}-{digest}"


def scope_label(*, project_slug: str | None, user_pk: int) -> str:
    """The value of label ``platform/scope``: ``p-<slug>`` of a project, else ``u-<user>``; at most 63 characters."""
    return _bounded(f"p-{project_slug}") if project_slug is not None else f"u-{user_pk}"


def namespace_for(prefix: str, *, project_slug: str | None, user_pk: int) -> str:
    """The scope's namespace on a cluster: ``<prefix>-p-<slug>`` or ``<prefix>-u-<user>``; at most 63 characters."""
    scope = f"p-{project_slug}" if project_slug is not None else f"u-{user_pk}"
    return _bounded(f"{prefix}-{scope}")


def attempt_object_name(object_name: str, number: int) -> str:
    """The workload's name: the task's object name for attempt 1, ``<object name>-<n>`` after it (fresh name, F08)."""
    return object_name if number == 1 else f"{object_name}-{number}"
