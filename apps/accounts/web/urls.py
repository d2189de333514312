from __future__ import annotations

from django.urls import path

from apps.accounts.web import views

app_name = "accounts"
urlpatterns = [
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/new/", views.create_token, name="token-create"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="token-revoke"),
    path("preferences/", views.preferences, name="preferences"),
]
