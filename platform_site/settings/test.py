"""Tests: real PostgreSQL and Valkey named by the environment (tests/conftest.py starts them), a fast password hash."""

from platform_site.settings.base import MIDDLEWARE as BASE_MIDDLEWARE
from platform_site.settings.dev import *  # noqa: F403 - settings modules build on each other by design

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MIDDLEWARE = list(BASE_MIDDLEWARE)
AXES_ENABLED = False
LOGGING = {"version": 1, "disable_existing_loggers": False, "root": {"level": "WARNING"}}
WHITENOISE_AUTOREFRESH = True  # nobody collects static files for a test, and a missing folder is a warning
