"""Tests: real PostgreSQL and Valkey named by the environment (tests/conftest.py starts them), a fast password hash."""

from platform_site.settings.base import MIDDLEWARE as BASE_MIDDLEWARE
from platform_site.settings.dev import *  # noqa: F403 - settings modules build on each other by design

DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
MIDDLEWARE = list(BASE_MIDDLEWARE)
AXES_ENABLED = False
# Shown by pytest with a failed test; printed nowhere else.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"nowhere": {"class": "logging.NullHandler"}},
    "root": {"level": "WARNING", "handlers": ["nowhere"]},
}
WHITENOISE_AUTOREFRESH = True  # nobody collects static files for a test, and a missing folder is a warning
