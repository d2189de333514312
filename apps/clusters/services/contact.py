"""When a cluster answered last, and since when it is silent."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F
from django.db.models.functions import Coalesce

from apps.clusters.gateway.port import ClusterFacts, GatewayError
from apps.clusters.models import Cluster

# A contact is written this seldom while all is well, so that a busy watch does not rewrite the row for every event.
CONTACT_STEP = timedelta(seconds=5)


def record_contact(cluster: Cluster, *, now: datetime, facts: ClusterFacts | None = None) -> None:
    """The cluster has answered at ``now``; with ``facts``, also what it said of itself."""
    rows = Cluster.objects.filter(pk=cluster.pk)
    if facts is not None:
        missing = ", ".join(facts.missing_rights)
        rows.update(
            version=facts.version,
            capabilities=sorted(facts.capabilities),
            last_contact_at=now,
            unreachable_since=None,
            last_error=f"missing rights: {missing}"[:500] if missing else "",
        )
        return
    # Only a check clears a fault: it alone has tried everything that the platform needs.
    rows.filter(unreachable_since__isnull=False).update(unreachable_since=None, last_error="")
    rows.exclude(last_contact_at__gt=now - CONTACT_STEP).update(last_contact_at=now)


def record_silence(cluster: Cluster, *, error: GatewayError, now: datetime) -> None:
    """The cluster did not answer, or refused the account: since when is kept, nothing is released (domain.md §11)."""
    Cluster.objects.filter(pk=cluster.pk).update(
        unreachable_since=Coalesce(F("unreachable_since"), now), last_error=str(error)[:500]
    )
