from __future__ import annotations

from django.urls import path

from apps.scheduling.web import views

app_name = "scheduling"
urlpatterns = [path("preview/", views.preview, name="preview")]
