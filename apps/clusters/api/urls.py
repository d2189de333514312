from __future__ import annotations

from django.urls import path

from apps.clusters.api import views

urlpatterns = [
    path("clusters", views.Clusters.as_view(), name="api-clusters"),
    path("clusters/<slug:name>", views.OneCluster.as_view(), name="api-cluster"),
    path("clusters/<slug:name>/credentials", views.Credentials.as_view(), name="api-cluster-credentials"),
    path("clusters/<slug:name>/check", views.Check.as_view(), name="api-cluster-check"),
    path("pools", views.Pools.as_view(), name="api-pools"),
]
