from __future__ import annotations

from django.urls import path

from apps.organisations.api import views

urlpatterns = [
    path("me", views.Me.as_view(), name="api-me"),
    path("projects", views.Projects.as_view(), name="api-projects"),
    path("projects/<slug:slug>", views.OneProject.as_view(), name="api-project"),
    path("projects/<slug:slug>/members", views.Members.as_view(), name="api-members"),
    path("projects/<slug:slug>/members/<str:username>", views.OneMember.as_view(), name="api-member"),
]
