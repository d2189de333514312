from __future__ import annotations

from django.urls import path

from apps.logs.api import views

urlpatterns = [path("tasks/<uuid:pk>/logs", views.Logs.as_view(), name="api-task-logs")]
