"""A front end that is rebuilt under the running demo is served whole at once, with no page left unstyled."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings
from whitenoise.middleware import WhiteNoiseMiddleware


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """WhiteNoise's settings as the demo's web has them."""
    for name, value in {"SECRET_KEY": "x" * 60, "SEALING_KEYS": "x", "DATABASE_URL": "postgres://u:p@h/d"}.items():
        monkeypatch.setenv(f"PLATFORM_{name}", value)
    monkeypatch.setenv("PLATFORM_REDIS_URL", "redis://h:1/0")
    settings = vars(importlib.import_module("platform_site.settings.demo"))
    return {name: value for name, value in settings.items() if name.startswith("WHITENOISE_")}


def test_a_rebuilt_file_is_served_whole_by_a_web_that_runs_on(tmp_path: Path, demo: dict[str, Any]) -> None:
    style = tmp_path / "style.css"
    style.write_text("old")
    with override_settings(STATICFILES_DIRS=[tmp_path], STATIC_ROOT=None, **{"WHITENOISE_AUTOREFRESH": False, **demo}):
        web = WhiteNoiseMiddleware(_no_page)
        before = _get(web)
        style.write_text("new, and longer")
        os.utime(style, (1, 2_000_000_000))
        after = _get(web)
    assert before == (b"old", "3")
    assert after == (b"new, and longer", "15")


def _no_page(_request: HttpRequest) -> HttpResponse:
    raise AssertionError("the file was not found")


def _get(web: WhiteNoiseMiddleware) -> tuple[bytes, str]:
    answer = web(RequestFactory().get("/static/style.css"))
    content = b"".join(answer)
    answer.close()
    return content, answer["Content-Length"]
