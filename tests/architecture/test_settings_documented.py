"""Every setting from the environment is documented, and nothing else is (architecture.md §3)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from platform_site.settings.environment import NAMES, read

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_the_document_lists_exactly_the_known_names() -> None:
    assert set(re.findall(r"`(PLATFORM_\w+)`", DOCUMENT.read_text())) == {name.name for name in NAMES}


def test_a_misspelt_name_stops_the_start() -> None:
    with pytest.raises(ImproperlyConfigured, match="PLATFORM_SECRET_KEYS"):
        read({"PLATFORM_SECRET_KEYS": "x"})


def test_a_missing_name_is_named_with_its_purpose() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"PLATFORM_DATABASE_URL \(PostgreSQL"):
        read({"PLATFORM_SECRET_KEY": "x"})
