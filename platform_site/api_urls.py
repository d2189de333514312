"""REST v1: each app brings its own paths (rest.md)."""

from __future__ import annotations

from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView

urlpatterns = [
    path("schema", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("", include("apps.accounts.api.urls")),
    path("", include("apps.organisations.api.urls")),
    path("", include("apps.clusters.api.urls")),
    path("", include("apps.quotas.api.urls")),
    path("", include("apps.scheduling.api.urls")),
    path("", include("apps.logs.api.urls")),
    path("", include("apps.tasks.api.urls")),
]
