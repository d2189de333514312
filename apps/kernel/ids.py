"""Identity and chance, for shells only: domain code is handed both (style.md rule 4)."""

from __future__ import annotations

import secrets
import uuid


def new_id() -> uuid.UUID:
    """A fresh random identity for a row that people address."""
    return uuid.uuid4()


def name_entropy() -> bytes:
    """Five random bytes, what ``kernel.names.object_name`` makes its suffix from."""
    return secrets.token_bytes(5)
