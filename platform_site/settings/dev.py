"""Development against your own PostgreSQL and Redis, with fallbacks so that `manage.py` starts without any setting."""

from platform_site.settings import logging as _logging
from platform_site.settings.base import *  # noqa: F403 - settings modules build on each other by design
from platform_site.settings.base import from_environment
from platform_site.settings.environment import read

DEBUG = True
globals().update(
    from_environment(
        read(
            fallbacks={
                "PLATFORM_SECRET_KEY": "development-only-never-in-production-0123456789-abcdef",
                "PLATFORM_SEALING_KEYS": "ZGV2ZWxvcG1lbnQtb25seS1zZWFsaW5nLWtleS0wMDE=",
                "PLATFORM_DATABASE_URL": "postgres://postgres@127.0.0.1:5432/platform",
                "PLATFORM_REDIS_URL": "redis://127.0.0.1:6379/0",
                "PLATFORM_HTTPS": "false",
            }
        )
    )
)
LOGGING = _logging.configure(globals()["LOG_LEVEL"], readable=True)
WHITENOISE_USE_FINDERS = True
