"""Every WebSocket address."""

from __future__ import annotations

from django.urls import path

from apps.logs.consumers import TaskConsumer
from apps.tasks.consumers import TaskListConsumer

websocket_urlpatterns = [
    path("ws/tasks", TaskListConsumer.as_asgi()),
    path("ws/tasks/<uuid:pk>", TaskConsumer.as_asgi()),
]
