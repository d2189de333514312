from __future__ import annotations

from django.urls import path

from apps.dashboard.web import views

app_name = "dashboard"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("resources/", views.resources, name="resources"),
    path("clusters/", views.cluster_list, name="cluster-list"),
    path("clusters/<slug:name>/", views.cluster_detail, name="cluster-detail"),
]
