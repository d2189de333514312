"""Every page in a real browser: light, dark, wide, narrow, English, 简体中文; `make screens` keeps the pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.support.demo import Demo, a_task, state_of, submitted, until

SCREENS = os.environ.get("PLATFORM_SCREENS")
PAGES: tuple[str, ...] = (
    "/",
    "/tasks/",
    "/tasks/new/?start=command",
    "/resources/",
    "/clusters/",
    "/clusters/beijing/",
    "/quotas/",
)
PAGES += ("/projects/", "/projects/map-team/", "/account/tokens/", "/account/preferences/")
TABS = ("", "instances/", "logs/", "events/", "revisions/", "yaml/")
LOOKS = [("light", 1440, "en-GB"), ("dark", 360, "zh-CN")]
if SCREENS:
    LOOKS = [(t, w, lang) for t in ("light", "dark") for w in (360, 1440) for lang in ("en-GB", "zh-CN")]
COLOURED = r"""for i in $(seq 400); do printf '\033[32mINFO\033[0m epoch %s\n' $i; sleep 0.3; done"""


@pytest.fixture(scope="module")
def task(demo: Demo) -> Iterator[str]:
    """A running task with coloured lines, so that the pages have something to show."""
    with demo.as_role("engineer") as caller:
        pk = submitted(caller, a_task("train-lidar", COLOURED))
        until(lambda: state_of(caller, pk) == "running", what="the task runs")
        yield pk
        caller.delete(f"/tasks/{pk}")


@pytest.fixture(params=LOOKS, ids=lambda look: "-".join(map(str, look)))
def page(request: pytest.FixtureRequest, demo: Demo, browser: Browser) -> Iterator[Page]:
    theme, width, language = request.param
    context = browser.new_context(
        base_url=demo.url, viewport={"width": width, "height": 900}, color_scheme=theme, locale=language
    )
    page = context.new_page()
    page.goto("/accounts/login/")
    login = demo.logins["engineer"]
    page.locator("[name=login]").fill(login["name"])
    page.locator("[name=password]").fill(login["password"])
    page.locator("[name=password]").press("Enter")
    page.wait_for_url("**/")
    yield page
    context.close()


def test_every_page_fits_its_window_and_breaks_no_script(request: pytest.FixtureRequest, page: Page, task: str) -> None:
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
    for path in (*PAGES, *(f"/tasks/{task}/{tab}" for tab in TABS)):
        answer = page.goto(path)
        assert answer is not None
        page.wait_for_timeout(400)
        if answer.status != 200 or page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{path}: {answer.status}, or wider than its window")
        keep(page, request.node.callspec.id, path.replace(task, "task"))
    assert faults == []


def keep(page: Page, look: str, path: str) -> None:
    if SCREENS:
        name = path.split("?", maxsplit=1)[0].strip("/").replace("/", "-") or "overview"
        page.screenshot(path=Path(SCREENS) / f"{name}-{look}.png", full_page=True)


def test_nothing_serious_stands_in_a_screen_readers_way(page: Page, task: str) -> None:
    found: list[str] = []
    for path in ("/", "/tasks/", "/tasks/new/?start=command", f"/tasks/{task}/", f"/tasks/{task}/logs/"):
        page.goto(path)
        page.wait_for_timeout(600)
        for violation in Axe().run(page).response["violations"]:
            if violation["impact"] in {"serious", "critical"}:
                targets = [node["target"] for node in violation["nodes"]][:3]
                found.append(f"{path}: {violation['id']} {targets}")
    assert found == []


def test_the_page_speaks_the_readers_language(demo: Demo, browser: Browser, engineer: httpx.Client) -> None:
    context = browser.new_context(base_url=demo.url, locale="zh-CN")
    page = context.new_page()
    page.goto("/accounts/login/")
    assert page.locator("h1").text_content() == "登录"
    context.close()
