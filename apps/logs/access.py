"""Who may read a Task's lines (whoever may read the Task), and which cluster a log shipper speaks for."""

from __future__ import annotations

import hashlib
import hmac
from uuid import UUID

from apps.accounts.models import User
from apps.clusters.models import Cluster
from apps.tasks import access as tasks
from apps.tasks.models import Task

_LONGEST_TOKEN = 200


def task_of_lines(user: User, pk: UUID) -> Task:
    """The Task whose lines the person may read; raises Http404 to strangers (domain.md §13)."""
    return tasks.task_for(user, pk)


def shipper_cluster(authorization: str) -> Cluster | None:
    """The cluster that this ``Authorization: Bearer`` header belongs to, None for any other header."""
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not 0 < len(token) <= _LONGEST_TOKEN:
        return None
    digest = token_digest(token)
    cluster = Cluster.objects.only("id", "name", "ingest_digest").filter(ingest_digest=digest).first()
    # The look-up compares digests, so its timing tells nothing of a token; the second look costs nothing either.
    return cluster if cluster is not None and hmac.compare_digest(cluster.ingest_digest, digest) else None


def token_digest(token: str) -> str:
    """What ``Cluster.ingest_digest`` keeps of a log shipper's token: SHA-256 in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
