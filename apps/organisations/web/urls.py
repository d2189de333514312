from __future__ import annotations

from django.urls import path

from apps.organisations.web import views

app_name = "organisations"
urlpatterns = [
    path("", views.project_list, name="project-list"),
    path("<slug:slug>/", views.project_detail, name="project-detail"),
    path("<slug:slug>/members/", views.set_member, name="member-set"),
    path("<slug:slug>/members/<int:pk>/remove/", views.remove_member, name="member-remove"),
]
