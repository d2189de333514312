"""Every HTTP address. Pages at the root, REST under /api/v1, log shippers at /ingest/vector."""

from __future__ import annotations

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.urls import include, path

from apps.logs.api.ingest import ingest_vector
from platform_site.health import alive, ready

urlpatterns = [
    path("", include("apps.dashboard.web.urls")),
    path("account/", include("apps.accounts.web.urls")),
    path("accounts/", include("allauth.account.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("tasks/", include("apps.tasks.web.urls")),
    path("scheduling/", include("apps.scheduling.web.urls")),
    path("projects/", include("apps.organisations.web.urls")),
    path("quotas/", include("apps.quotas.web.urls")),
    path("api/v1/", include("platform_site.api_urls")),
    path("ingest/vector", ingest_vector, name="ingest-vector"),
    # One sign-in for the whole site: the panel's own form knows no lock-out page and no second factor.
    path("admin/login/", secure_admin_login(admin.site.login)),
    path("admin/", admin.site.urls),
    path("healthz", alive, name="alive"),
    path("readyz", ready, name="ready"),
    path("metrics/", include("django_prometheus.urls")),
]

handler400 = "apps.ui.errors.bad_request"
handler403 = "apps.ui.errors.forbidden"
handler404 = "apps.ui.errors.not_found"
handler500 = "apps.ui.errors.server_error"
