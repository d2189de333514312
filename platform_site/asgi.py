"""The web process: pages and REST by Django, WebSockets by Channels."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "platform_site.settings.dev")
django_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402 - apps must be loaded before consumers are imported
from channels.routing import ProtocolTypeRouter  # noqa: E402 - as above
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402 - as above

from platform_site.sockets import sockets  # noqa: E402 - as above

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(sockets)),
    }
)
