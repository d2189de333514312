from __future__ import annotations

from django.urls import path

from apps.scheduling.api import views

urlpatterns = [
    path("tasks/preview", views.PreviewTask.as_view(), name="api-task-preview"),
    path("clusters/<slug:name>/nodes", views.Nodes.as_view(), name="api-nodes"),
    path("resources", views.Resources.as_view(), name="api-resources"),
]
