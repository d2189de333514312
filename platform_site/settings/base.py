"""Settings that all installations share; what differs comes from the environment (environment.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import django_stubs_ext
import environ
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

# Forms and admin classes name their model as a type parameter, which Django itself cannot read at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent.parent

# Filled by ``from_environment``; named here so that their types are known.
CACHES: dict[str, Any]
CHANNEL_LAYERS: dict[str, Any]
SEALING_KEYS: list[str]
ADMISSION_SECONDS: int
RECONCILE_SECONDS: int
CLUSTER_TIMEOUT_SECONDS: int
LOG_RETENTION_DAYS: int
DEFAULT_QUOTA: str


def from_environment(values: dict[str, str]) -> dict[str, Any]:
    """The settings that depend on the installation; raises ImproperlyConfigured for a URL that cannot be read."""
    https = values["PLATFORM_HTTPS"].lower() in {"1", "true", "yes", "on"}
    redis = values["PLATFORM_REDIS_URL"]
    return {
        "SECRET_KEY": values["PLATFORM_SECRET_KEY"],
        "SEALING_KEYS": _words(values["PLATFORM_SEALING_KEYS"]),
        "DATABASES": {"default": _database(values["PLATFORM_DATABASE_URL"])},
        "CACHES": {
            "default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": redis, "KEY_PREFIX": "platform"}
        },
        "CHANNEL_LAYERS": {
            "default": {
                "BACKEND": "channels_redis.core.RedisChannelLayer",
                # The layer waits five seconds for a message; the client's own time-out must be longer than that.
                "CONFIG": {"hosts": [{"address": redis, "socket_timeout": 20}], "capacity": 1000, "expiry": 30},
            }
        },
        "CELERY_BROKER_URL": redis,
        "ALLOWED_HOSTS": _words(values["PLATFORM_ALLOWED_HOSTS"]),
        "CSRF_TRUSTED_ORIGINS": _words(values["PLATFORM_ORIGINS"]),
        "SESSION_COOKIE_SECURE": https,
        "CSRF_COOKIE_SECURE": https,
        "SECURE_SSL_REDIRECT": https,
        "SECURE_HSTS_SECONDS": 31_536_000 if https else 0,
        "SECURE_HSTS_INCLUDE_SUBDOMAINS": https,
        "SECURE_HSTS_PRELOAD": https,
        "LOG_LEVEL": values["PLATFORM_LOG_LEVEL"],
        "ADMISSION_SECONDS": int(values["PLATFORM_ADMISSION_SECONDS"]),
        "RECONCILE_SECONDS": int(values["PLATFORM_RECONCILE_SECONDS"]),
        "CLUSTER_TIMEOUT_SECONDS": int(values["PLATFORM_CLUSTER_TIMEOUT_SECONDS"]),
        "LOG_RETENTION_DAYS": int(values["PLATFORM_LOG_RETENTION_DAYS"]),
        "DEFAULT_QUOTA": values["PLATFORM_DEFAULT_QUOTA"],
    }


def _database(url: str) -> dict[str, Any]:
    database: dict[str, Any] = environ.Env.db_url_config(url) | {"ENGINE": "platform_site.postgres"}
    database["OPTIONS"] = database.get("OPTIONS", {}) | {
        "connect_timeout": 5,
        "options": "-c lock_timeout=5s -c statement_timeout=30s",
        # Under ASGI every request has a thread of its own: without a pool each would sign in to PostgreSQL anew.
        "pool": {"min_size": 1, "max_size": 20, "timeout": 10},
    }
    return database


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "axes",
    "channels",
    "csp",
    "django_htmx",
    "django_prometheus",
    "django_structlog",
    "django_tables2",
    "template_partials",
    "rest_framework",
    "drf_spectacular",
    "apps.audit",
    "apps.live",
    "apps.ui",
    "apps.rest",
    "apps.accounts",
    "apps.organisations",
    "apps.clusters",
    "apps.quotas",
    "apps.tasks",
    "apps.scheduling",
    "apps.logs",
    "apps.dashboard",
    "platform_site",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.ui.htmx.PageMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "platform_site.urls"
ASGI_APPLICATION = "platform_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "dashboard:overview"
ACCOUNT_ADAPTER = "apps.accounts.adapter.ClosedSignup"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_RATE_LIMITS = False  # django-axes counts failed logins, over all processes and with a page in the admin
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_VERBOSE = False

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("简体中文"))]
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "apps.ui.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
PERMISSIONS_POLICY: dict[str, list[str]] = {"camera": [], "geolocation": [], "microphone": [], "payment": [], "usb": []}
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ["/admin/"],
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 4000

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.accounts.authentication.SignedInWithScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.rest.parsing.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.rest.problems.exception_handler",
    "DEFAULT_THROTTLE_CLASSES": ["apps.rest.throttling.PerCaller"],
    "DEFAULT_THROTTLE_RATES": {"caller": "6000/min"},
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Platform REST API",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/v1",
}

CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = 120
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = "UTC"

UNFOLD = {
    "SITE_TITLE": _("Platform administration"),
    "SITE_HEADER": _("Platform"),
    "SHOW_VIEW_ON_SITE": False,
    # The pages' own accent (static/css/tokens.css), so that both halves look like one product.
    "COLORS": {
        "primary": {
            "50": "#eef0fc",
            "100": "#dfe3fa",
            "200": "#c3c9f6",
            "300": "#a7b0f9",
            "400": "#8d98f5",
            "500": "#5a67dd",
            "600": "#4a58cf",
            "700": "#4452c7",
            "800": "#3845b0",
            "900": "#2c3789",
            "950": "#1c2357",
        }
    },
}

SILENCED_SYSTEM_CHECKS: list[str] = []
