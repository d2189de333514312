"""Every WebSocket address."""

from __future__ import annotations

from channels.generic.websocket import AsyncWebsocketConsumer
from channels.routing import URLRouter
from django.urls import path, re_path

from apps.logs.consumers import TaskConsumer
from apps.tasks.consumers import TaskListConsumer

websocket_urlpatterns = [
    path("ws/tasks", TaskListConsumer.as_asgi()),
    path("ws/tasks/<uuid:pk>", TaskConsumer.as_asgi()),
]


class Nowhere(AsyncWebsocketConsumer):  # type: ignore[misc] # channels carries no types
    """Any other address is refused, instead of failing as a fault of the server."""

    async def connect(self) -> None:
        await self.close()


sockets = URLRouter([*websocket_urlpatterns, re_path(r"", Nowhere.as_asgi())])
