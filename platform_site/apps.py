"""The composition root as an application, so that every process sends its Celery messages to our broker."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig


class PlatformSiteConfig(AppConfig):
    """Without this, a process that never imports the Celery application would nudge Celery's own default broker."""

    name = "platform_site"

    def ready(self) -> None:
        import_module("platform_site.celery")
