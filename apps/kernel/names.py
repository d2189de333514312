"""Names: what people type, what the cluster sees (domain.md §3)."""

from __future__ import annotations

import re

from apps.kernel.text import say as _

DISPLAY_NAME = re.compile(r"^[a-z][a-zA-Z0-9-]{0,62}$")
DNS_1035_LABEL = re.compile(r"^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")
DNS_1123_LABEL = re.compile(r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
SLUG_LENGTH = 24
SUFFIX_LENGTH = 8
OBJECT_NAME_LENGTH = 40


def display_name_fault(name: str) -> str | None:
    """Why ``name`` is no display name, or None when it is one (domain.md §3, Seed A)."""
    if not name:
        return _("a name is needed")
    if len(name) > 63:
        return _("at most 63 characters, this has %(length)d", length=len(name))
    if not re.match(r"^[a-z]", name):
        return _("begins with a lower-case letter a–z")
    if not DISPLAY_NAME.match(name) or name.endswith("\n"):
        return _("only letters, digits and hyphens")
    return None


def slug(display_name: str) -> str:
    """Lower-case, at most 24 characters, never ending in a hyphen; never empty: a display name begins with a letter."""
    return display_name.lower()[:SLUG_LENGTH].rstrip("-")


def object_name(display_name: str, random_bytes: bytes) -> str:
    """The name on the cluster: slug, hyphen, 8 base32 characters from 5 random bytes; a DNS-1035 label ≤ 40."""
    if len(random_bytes) != 5:
        raise ValueError("8 base32 characters need 5 bytes")
    number = int.from_bytes(random_bytes, "big")
    suffix = "".join(BASE32[(number >> (5 * place)) & 31] for place in reversed(range(SUFFIX_LENGTH)))
    return f"{slug(display_name)}-{suffix}"
