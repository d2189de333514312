from __future__ import annotations

from django.urls import path

from apps.dashboard.web import cluster_views, views

app_name = "dashboard"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("resources/", views.resources, name="resources"),
    path("clusters/", views.cluster_list, name="cluster-list"),
    # No cluster can be called "-", so this shadows none.
    path("clusters/-/new/", cluster_views.cluster_new, name="cluster-new"),
    path("clusters/<slug:name>/", cluster_views.cluster_detail, name="cluster-detail"),
    path("clusters/<slug:name>/check/", cluster_views.cluster_check, name="cluster-check"),
    path("clusters/<slug:name>/credentials/", cluster_views.cluster_credentials, name="cluster-credentials"),
]
