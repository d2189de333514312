"""One demo and one Chromium for all walks; every test here runs in one worker, after the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.support.browsing import LOOKS, Look, signed_in
from tests.support.demo import Demo, running_demo

QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
QUIET += ["--disable-sync", "--no-first-run", "--disable-quic"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/browser" in str(item.path):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("demo"))
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium where there is one; never a call to the outside."""
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    return browser_type_launch_args | {"args": QUIET} | ({"executable_path": found[0]} if found else {})


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    with running_demo() as demo:
        yield demo


@pytest.fixture
def engineer(demo: Demo) -> Iterator[httpx.Client]:
    """The engineer's scripts."""
    with demo.as_role("engineer") as caller:
        yield caller


@pytest.fixture(params=LOOKS, ids=str)
def look(request: pytest.FixtureRequest) -> Look:
    """Two ways to look at a page, all eight for `make screens`."""
    found: Look = request.param
    return found


@pytest.fixture
def engineer_page(demo: Demo, browser: Browser) -> Iterator[Page]:
    """The engineer's browser, signed in."""
    with signed_in(demo, browser, "engineer") as page:
        yield page


@pytest.fixture
def admin_page(demo: Demo, browser: Browser) -> Iterator[Page]:
    """The administrator's browser, signed in."""
    with signed_in(demo, browser, "admin") as page:
        yield page
