"""Every page in a real browser: light, dark, wide, narrow, English, 简体中文; `make screens` keeps the pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.support.browsing import SCREENS, Look, opened, signed_in
from tests.support.demo import ROOT, Demo, a_task, state_of, submitted, until

PAGES: tuple[str, ...] = (
    "/",
    "/tasks/",
    "/tasks/new/",
    "/tasks/new/?start=command",
    "/resources/",
    "/clusters/",
    "/clusters/beijing/",
)
PAGES += ("/quotas/", "/projects/", "/projects/map-team/", "/account/tokens/", "/account/preferences/")
TABS = ("", "instances/", "logs/", "events/", "revisions/", "yaml/")
ADMIN_PAGES = ("/admin/", "/admin/quotas/quota/", "/admin/clusters/cluster/", "/admin/audit/auditevent/")
README_PICTURES = {"task-logs-light-1440-en-GB": "task-logs.png", "resources-light-1440-en-GB": "resources.png"}
# Words that a page in Chinese must not show: the head of every page, in English.
ENGLISH_HEAD = {"Overview", "Tasks", "Resources", "Projects", "Quotas", "Clusters", "New task", "Sign out"}
EPOCHS = r"""for i in $(seq 1 2000); do
printf '\033[32mINFO\033[0m  epoch %4s  loss 0.%04d  lr 3e-4\n' $i $((9000 / i))
[ $((i % 9)) -eq 0 ] && printf '\033[33mWARN\033[0m  loader waited 212 ms for the next batch\n'; sleep 0.4; done"""
SAVES = """for i in $(seq 1 200); do echo "checkpoint step-$((i * 500)).pt saved (1.2 GB)"; sleep 4; done"""


@pytest.fixture(scope="module")
def task(demo: Demo) -> Iterator[str]:
    """A running task of two containers with coloured lines, so that the pages have something to show."""
    containers = [
        {"name": "trainer", "image": "registry.example/lidar/trainer:2.4", "command": ["sh", "-c", EPOCHS]},
        {"name": "uploader", "image": "registry.example/lidar/uploader:1.1", "command": ["sh", "-c", SAVES]},
    ]
    with demo.as_role("engineer") as caller:
        pk = submitted(caller, a_task("train-lidar", "", containers=containers))
        until(lambda: state_of(caller, pk) == "running", what="the task runs")
        yield pk
        caller.delete(f"/tasks/{pk}")


@pytest.fixture
def page(look: Look, demo: Demo, browser: Browser) -> Iterator[Page]:
    with signed_in(demo, browser, "engineer", look) as page:
        yield page


def test_every_page_fits_its_window_and_breaks_no_script(look: Look, page: Page, task: str) -> None:
    faults = [fault for path in (*PAGES, *(f"/tasks/{task}/{tab}" for tab in TABS)) for fault in seen(page, look, path)]
    assert faults == []


def test_the_admin_panel_fits_its_window_and_breaks_no_script(look: Look, demo: Demo, browser: Browser) -> None:
    with signed_in(demo, browser, "admin", look) as page:
        faults = [fault for path in ADMIN_PAGES for fault in seen(page, look, path)]
    assert faults == []


def test_the_sign_in_page_fits_its_window_in_both_languages(look: Look, demo: Demo, browser: Browser) -> None:
    with opened(demo, browser, look) as page:
        faults = seen(page, look, "/accounts/login/")
        title = page.locator("h1").text_content()
        violations = serious(page, "/accounts/login/")
    assert (faults, violations, title) == ([], [], {"en-GB": "Sign in", "zh-CN": "登录"}[look.language])


def test_nothing_serious_stands_in_a_screen_readers_way(page: Page, task: str) -> None:
    paths = (*PAGES, *(f"/tasks/{task}/{tab}" for tab in TABS))
    assert [violation for path in paths for violation in violations_of(page, path)] == []


def violations_of(page: Page, path: str) -> list[str]:
    page.goto(path)
    page.wait_for_timeout(300)
    return serious(page, path)


def seen(page: Page, look: Look, path: str) -> list[str]:
    """What is wrong with the page as this reader sees it; `make screens` keeps its picture."""
    answer = page.goto(path)
    assert answer is not None
    page.wait_for_timeout(400)
    keep(page, look, path)
    faults: list[str] = []
    if answer.status != 200 or page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        faults.append(f"{path}: {answer.status}, or wider than its window")
    if look.language == "zh-CN":
        words = page.evaluate("[...document.querySelectorAll('nav a, header a')].map((a) => a.textContent.trim())")
        faults += [f"{path}: {word} in English" for word in ENGLISH_HEAD.intersection(words)]
    return faults


def serious(page: Page, path: str) -> list[str]:
    """What axe-core finds serious or critical on the page as it stands."""
    found = [item for item in Axe().run(page).response["violations"] if item["impact"] in {"serious", "critical"}]
    return [f"{path}: {item['id']} {[node['target'] for node in item['nodes']][:3]}" for item in found]


def keep(page: Page, look: Look, path: str) -> None:
    if not SCREENS:
        return
    where = path.split("?", maxsplit=1)[0].strip("/").split("/")
    if where[0] == "tasks" and len(where) > 1 and where[1] != "new":
        where = ["task", *where[2:]]
    name = f"{'-'.join(filter(None, where)) or 'overview'}{'-form' if '?' in path else ''}-{look}"
    page.screenshot(path=Path(SCREENS) / f"{name}.png", full_page=True)
    if name in README_PICTURES:
        page.screenshot(path=ROOT / "docs" / "images" / README_PICTURES[name])
