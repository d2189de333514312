"""Who calls REST: a token's owner, or the browser's session with CSRF; and whether the token's scopes suffice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.accounts import selectors, services
from apps.accounts.domain.tokens import Scope
from apps.accounts.models import ApiToken, User
from apps.kernel import clock
from apps.kernel.errors import Code, refuse

if TYPE_CHECKING:
    # At run time DRF's views import this module, by the name that settings give.
    from rest_framework.views import APIView

READING = {"HEAD": "GET"}


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer ptk_…``; any other scheme is left to the session."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _space, text = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        now = clock.now()
        token = selectors.usable_token(text.strip().decode("latin-1"), now=now)
        if token is None:
            raise AuthenticationFailed(_("This token is unknown, expired or revoked."))
        services.note_use(token, now=now)
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class SignedInWithScope(BasePermission):
    """Someone is signed in, and a token has the scope that the view names for the method in ``scopes``.

    A view that names no scope for a method refuses every token there, unless it says ``any_scope``: forgetting must
    not open a door.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.user, User) or not request.user.is_active:
            return False
        # A method that the view does not have is refused as such (405), whatever the token may do.
        known = hasattr(view, (request.method or "GET").lower())
        if not isinstance(request.auth, ApiToken) or request.method == "OPTIONS" or not known:
            return True
        wanted = scope_wanted(view, request.method or "GET")
        if wanted is None:
            return bool(getattr(view, "any_scope", False))
        if wanted.value in request.auth.scopes:
            return True
        detail = _("This token lacks the scope “%(scope)s”.") % {"scope": wanted.value}
        raise refuse(Code.FORBIDDEN, detail, scope=wanted.value)


def scope_wanted(view: Any, method: str) -> Scope | None:
    """The scope that a call needs, by the view's ``scopes``."""
    scopes: dict[str, Scope] = getattr(view, "scopes", {})
    return scopes.get(READING.get(method, method))


def caller(request: Request) -> User:
    """The person behind the call; raises NotAuthenticated where there is none."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def source_of(request: Request) -> str:
    """Where a change came from, for the audit: the address, and the token's beginning."""
    address = str(request.META.get("REMOTE_ADDR", ""))
    return f"{address} {request.auth.prefix}" if isinstance(request.auth, ApiToken) else address


def scopes_of(request: Request) -> list[str]:
    """What the call may be used for: the token's scopes, or every one for a browser's session."""
    return sorted(request.auth.scopes) if isinstance(request.auth, ApiToken) else sorted(Scope)


def token_of(request: Request) -> dict[str, Any] | None:
    """What the owner may know of the token in use; None for a session."""
    token = request.auth
    if not isinstance(token, ApiToken):
        return None
    return {"name": token.name, "prefix": token.prefix, "expires_at": token.expires_at}
