"""The scope switch takes only what a scope can be: a bad one must not stay with the session."""

from __future__ import annotations

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from apps.ui.scope import chosen_scope


@pytest.mark.parametrize("given", ["%00", "a%00b", "%ED%A0%80", "x" * 5000, "%3Cb%3E", "a%20b"])
def test_what_no_scope_can_be_is_no_choice_and_is_not_remembered(given: str) -> None:
    request = RequestFactory().get(f"/?scope={given}")
    request.session = SessionStore()
    assert (chosen_scope(request), request.session.get("scope", "")) == ("", "")


def test_a_project_is_remembered() -> None:
    request = RequestFactory().get("/?scope=map-team")
    request.session = SessionStore()
    assert (chosen_scope(request), request.session["scope"]) == ("map-team", "map-team")
