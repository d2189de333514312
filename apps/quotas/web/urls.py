from __future__ import annotations

from django.urls import path

from apps.quotas.web import views

app_name = "quotas"
urlpatterns = [path("", views.quota_list, name="quota-list")]
