"""How a reader looks at the product, and a signed-in page that fails when its scripts or its console complain."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.demo import Demo


@dataclass(frozen=True, slots=True)
class Look:
    """A theme, a window's width in pixels, and the language that the browser asks for."""

    theme: Literal["light", "dark"] = "light"
    width: int = 1440
    language: str = "en-GB"

    def __str__(self) -> str:
        return f"{self.theme}-{self.width}-{self.language}"


SCREENS = os.environ.get("SCREENS_FOLDER")
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = [Look(), Look("dark", 360, "zh-CN")]
if SCREENS:
    LOOKS = [Look(t, w, lang) for t in THEMES for w in (360, 1440) for lang in ("en-GB", "zh-CN")]


@contextmanager
def opened(demo: Demo, browser: Browser, look: Look) -> Iterator[Page]:
    """A page of a stranger's new browser; fails at the end when a script or the console complained meanwhile."""
    context = browser.new_context(
        base_url=demo.url,
        viewport={"width": look.width, "height": 900},
        color_scheme=look.theme,
        locale=look.language,
    )
    page = context.new_page()
    faults: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            faults.append(f"{page.url}: {message.text}")

    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    page.on("console", heard)
    yield page
    context.close()
    unexpected = [fault for fault in faults if not expected(fault)]
    assert not unexpected, unexpected


@contextmanager
def signed_in(demo: Demo, browser: Browser, role: str, look: Look = Look()) -> Iterator[Page]:
    """The page of a person of this role, on the overview."""
    with opened(demo, browser, look) as page:
        page.goto("/accounts/login/")
        page.locator("[name=login]").fill(demo.logins[role]["name"])
        page.locator("[name=password]").fill(demo.logins[role]["password"])
        page.locator("[name=password]").press("Enter")
        page.wait_for_url("**/")
        yield page


def expected(fault: str) -> bool:
    """What browser and htmx note as errors: a cut connection, a refusal that the page shows, a request left behind."""
    return any(
        words in fault
        for words in ("WebSocket", "ERR_", "status of 4", "Error Code 4", "htmx:sendAbort", "htmx:afterRequest")
    )
