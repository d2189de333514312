from __future__ import annotations

from django.urls import path

from apps.clusters.api import views

urlpatterns = [
    path("clusters", views.Clusters.as_view(), name="api-clusters"),
    path("pools", views.Pools.as_view(), name="api-pools"),
]
