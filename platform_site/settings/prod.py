"""Production: everything from the environment, nothing assumed."""

from platform_site.settings import logging as _logging
from platform_site.settings.base import *  # noqa: F403 - settings modules build on each other by design
from platform_site.settings.base import from_environment
from platform_site.settings.environment import read

DEBUG = False
globals().update(from_environment(read()))
LOGGING = _logging.configure(globals()["LOG_LEVEL"], readable=False)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
