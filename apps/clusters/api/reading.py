"""What callers send about clusters: how to sign in, by a kubeconfig or by its parts."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.clusters.domain.kubeconfig import Chosen, read_kubeconfig
from apps.clusters.domain.sign_in import SignIn
from apps.clusters.services import Draft
from apps.kernel.errors import Refused
from apps.rest.parsing import LARGEST_BODY, Body

PARTS = ("server", "token", "ca")


def new_cluster(request: Request, *, now: datetime) -> tuple[Draft, bool]:
    """The cluster in the body, and whether it shall be added although nobody reaches it."""
    body = Body(request.data)
    name = body.text("name", longest=40)
    prefix = body.maybe_text("namespace_prefix", longest=20) or "platform"
    profile = body.object("profile")
    sign_in, anyway = _sign_in(body, now=now)
    return Draft(name, sign_in, prefix, profile), anyway


def new_credentials(request: Request, *, now: datetime) -> tuple[SignIn, bool]:
    """How to sign in from now on, and whether to take it although nobody reaches the cluster by it."""
    return _sign_in(Body(request.data), now=now)


def _sign_in(body: Body, *, now: datetime) -> tuple[SignIn, bool]:
    kubeconfig, context = body.maybe_text("kubeconfig", longest=LARGEST_BODY), body.maybe_text("context", longest=200)
    server, token, ca = (body.maybe_text(name, longest=LARGEST_BODY) for name in PARTS)
    verify, anyway = body.flag("verify", default=True), body.flag("anyway")
    if kubeconfig and (server or token or ca):
        body.fault("kubeconfig", _("give either a kubeconfig, or server, token and ca"))
    elif not kubeconfig and not server:
        body.fault("server", _("give a kubeconfig, or server, token and ca"))
    body.done()
    if not kubeconfig:
        return SignIn(server.strip().rstrip("/"), token.strip(), ca or None, verify=verify), anyway
    found = read_kubeconfig(kubeconfig, now=now, context=context)
    if not isinstance(found, Chosen):
        raise Refused(found)
    return found.sign_in, anyway
