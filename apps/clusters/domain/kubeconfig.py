"""A kubeconfig that somebody pasted: how to sign in by it, or why it is not taken and what to do instead.

A kubeconfig may name programs to run and files to read; on our server both would be ours. So only what stands in the
text itself is taken, and everything else is refused by name (issue 4, part 6).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.clusters.domain import certificates
from apps.clusters.domain.kubeconfig_faults import refusal
from apps.clusters.domain.sign_in import SignIn, address_fault, token_fault
from apps.clusters.domain.yaml_tree import LARGEST, Tree, YamlFault, read_tree
from apps.kernel.errors import Refusal

MOST_NAMES = 50
LONGEST_NAME = 200
Part = Mapping[str, Tree]

# What in a user's or a cluster's part is never taken, by the token of its refusal; the first that is found is told.
USER_REFUSED: Sequence[tuple[str, Sequence[str]]] = (
    ("exec", ("exec",)),
    ("auth_provider", ("auth-provider",)),
    ("file", ("client-certificate", "client-key", "tokenFile")),
    ("password", ("username", "password")),
    ("impersonation", ("as", "as-uid", "as-groups", "as-user-extra")),
)
CLUSTER_REFUSED: Sequence[tuple[str, Sequence[str]]] = (("file", ("certificate-authority",)), ("proxy", ("proxy-url",)))


@dataclass(frozen=True, slots=True)
class Chosen:
    """What one context of a kubeconfig says; ``contexts`` are all that could have been chosen."""

    sign_in: SignIn
    context: str
    contexts: Sequence[str]


def read_kubeconfig(text: str, *, now: datetime, context: str = "") -> Chosen | Refusal:
    """How to sign in by the text's ``context``, else by its current one, else by its only one; or a Refusal."""
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        return refusal("too_large", limit=LARGEST)
    tree = read_tree(text)
    if isinstance(tree, YamlFault):
        where: dict[str, object] = {"name": tree.name} if tree.name else {}
        return refusal(tree.token, line=tree.line or 1, **where)
    if not isinstance(tree, dict) or not _looks_like_one(tree):
        return refusal("no_kubeconfig")
    named = _named(tree.get("contexts"), "context")
    chosen = _context(tree, named, context)
    return chosen if isinstance(chosen, Refusal) else _of_context(tree, chosen, named, now)


def _of_context(tree: Part, context: str, named: Mapping[str, Part], now: datetime) -> Chosen | Refusal:
    clusters, users = _named(tree.get("clusters"), "cluster"), _named(tree.get("users"), "user")
    cluster, user = _text(named[context], "cluster"), _text(named[context], "user")
    if cluster not in clusters:
        return refusal("no_cluster", name=cluster[:60], context=context)
    if user not in users:
        return refusal("no_user", name=user[:60], context=context)
    found = _sign_in(clusters[cluster], users[user], user, now)
    return found if isinstance(found, Refusal) else Chosen(found, context, tuple(named)[:MOST_NAMES])


def _looks_like_one(tree: Part) -> bool:
    kind = tree.get("kind", "Config")
    return kind == "Config" and any(isinstance(tree.get(part), list) for part in ("clusters", "contexts", "users"))


def _named(part: Tree | None, inner: str) -> dict[str, Part]:
    """The entries of one of the three lists by name; the first of a name counts, as for kubectl."""
    found: dict[str, Part] = {}
    for entry in part if isinstance(part, list) else []:
        name = entry.get("name") if isinstance(entry, dict) else None
        value = entry.get(inner) if isinstance(entry, dict) else None
        if isinstance(name, str) and name:
            found.setdefault(name[:LONGEST_NAME], value if isinstance(value, dict) else {})
    return found


def _context(tree: Part, named: Mapping[str, Part], wanted: str) -> str | Refusal:
    if not named:
        return refusal("no_contexts")
    names = list(named)[:MOST_NAMES]
    if wanted:
        return wanted if wanted in named else refusal("unknown_context", name=wanted[:60], contexts=names)
    current = _text(tree, "current-context")
    if current:
        return current if current in named else refusal("unknown_context", name=current[:60], contexts=names)
    return names[0] if len(named) == 1 else refusal("several_contexts", contexts=names, count=len(named))


def _sign_in(cluster: Part, user: Part, user_name: str, now: datetime) -> SignIn | Refusal:
    fault = _refused(user, USER_REFUSED, user_name) or _refused(cluster, CLUSTER_REFUSED, user_name)
    if fault is not None:
        return fault
    ca, certificate, key = (
        _decoded(part, name)
        for part, name in (
            (cluster, "certificate-authority-data"),
            (user, "client-certificate-data"),
            (user, "client-key-data"),
        )
    )
    insecure = _text(cluster, "insecure-skip-tls-verify").lower() == "true"
    found = SignIn(
        _text(cluster, "server").rstrip("/"),
        _text(user, "token").strip(),
        ca,
        certificate or "",
        key or "",
        verify=not insecure,
        server_name=_text(cluster, "tls-server-name"),
    )
    return _sign_in_fault(found, has_certificate=certificate is not None or key is not None, now=now) or found


def _sign_in_fault(found: SignIn, *, has_certificate: bool, now: datetime) -> Refusal | None:
    wrong = address_fault(found.server)
    if wrong is not None:
        return refusal(wrong[0])
    if not _is_host(found.server_name):
        return refusal("bad_server_name")
    if found.ca is not None and not found.verify:
        return refusal("insecure_with_ca")
    fault = certificates.ca_fault(found.ca, now) if found.ca is not None else None
    if fault is None and has_certificate:
        fault = certificates.client_fault(found.client_certificate, found.client_key, now)
    if fault is not None:
        return refusal(fault, **_dates(fault, found))
    if not found.token and not has_certificate:
        return refusal("no_credentials")
    return refusal("bad_token") if found.token and token_fault(found.token) else None


def _dates(fault: str, found: SignIn) -> dict[str, str]:
    if not fault.endswith("_expired"):
        return {}
    at = certificates.expiry((found.ca or "") if fault == "ca_expired" else found.client_certificate)
    return {"expired": at.date().isoformat() if at else ""}


def _refused(part: Part, rules: Sequence[tuple[str, Sequence[str]]], user_name: str) -> Refusal | None:
    """The refusal of the first thing in this part that is never taken; an empty value says nothing."""
    for token, names in rules:
        for name in names:
            if part.get(name):
                return refusal(token, field=name, user=user_name[:60])
    return None


def _decoded(part: Part, name: str) -> str | None:
    """The text behind a ``…-data`` field, None where it is not given; what is no base64 text is not PEM either."""
    given = part.get(name)
    if not given:
        return None
    try:
        return base64.b64decode("".join(str(given).split()), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def _is_host(name: str) -> bool:
    return len(name) <= 253 and name.isascii() and all(sign.isalnum() or sign in ".-:" for sign in name)


def _text(part: Part, name: str) -> str:
    found = part.get(name)
    return found if isinstance(found, str) else ""
