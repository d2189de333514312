"""Celery entry points of the clusters; each may run twice or not at all."""

from __future__ import annotations

from celery import current_app, shared_task

from apps.clusters import services
from apps.kernel import clock


@shared_task(name="clusters.check_all")
def check_all() -> None:
    """Ask each cluster by a message of its own, so that a silent one keeps no other waiting (F17)."""
    for pk in services.cluster_keys():
        current_app.send_task("clusters.check", args=(pk,), expires=25)


@shared_task(name="clusters.check")
def check(pk: int) -> None:
    """Version, rights, PriorityClasses and node labels of one cluster."""
    services.check_by_key(pk, now=clock.now())
