from __future__ import annotations

from django.urls import path

from apps.quotas.api import views

urlpatterns = [
    path("quotas", views.Quotas.as_view(), name="api-quotas"),
    path("quotas/<int:pk>", views.OneQuota.as_view(), name="api-quota"),
]
