"""Celery's application: entry points are each app's ``background.py``; ticks are fixed here, in code."""

from __future__ import annotations

import os

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "platform_site.settings.dev")

app = Celery("platform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="background")
# Each tick has a nudge sent after commit beside it; either alone is correct (architecture.md §4).
app.conf.beat_schedule = {
    "admit": {"task": "scheduling.admit", "schedule": settings.ADMISSION_SECONDS, "options": {"expires": 30}},
    "reconcile": {"task": "tasks.reconcile_due", "schedule": settings.RECONCILE_SECONDS, "options": {"expires": 30}},
    "pending-timeouts": {"task": "tasks.end_overdue", "schedule": 15, "options": {"expires": 30}},
    "cluster-checks": {"task": "clusters.check_all", "schedule": 30, "options": {"expires": 60}},
    "book-checks": {"task": "scheduling.check_books", "schedule": 300, "options": {"expires": 300}},
    "log-partitions": {"task": "logs.keep_partitions", "schedule": 3600, "options": {"expires": 600}},
}
