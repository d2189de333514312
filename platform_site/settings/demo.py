"""`make demo`: production's settings on loopback without HTTPS, static files served from where they lie."""

from platform_site.settings import logging as _logging
from platform_site.settings.base import *  # noqa: F403 - settings modules build on each other by design
from platform_site.settings.base import from_environment
from platform_site.settings.environment import read

DEBUG = False
globals().update(from_environment(read(fallbacks={"PLATFORM_HTTPS": "false"})))
LOGGING = _logging.configure(globals()["LOG_LEVEL"], readable=True)
WHITENOISE_USE_FINDERS = True
# A front end built again under the running web would else be cut to the sizes that its files had at the start.
WHITENOISE_AUTOREFRESH = True
WHITENOISE_MAX_AGE = 0
