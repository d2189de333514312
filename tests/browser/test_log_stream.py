"""200 lines a second arrive complete and in order in the browser, and a lost connection loses none."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.support.demo import a_task, submitted, until

LINES = 2_000
FAST = f"i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); echo line $i; [ $((i % 20)) -eq 0 ] && sleep 0.1; done; sleep 3"
MARKUP = "<img src=x onerror=alert(1)>"
ESCAPES = r"\033[1;31mred\033[0m \033]8;;javascript:alert(1)\033\\link\033]8;;\033\\ \342\200\256evil\n"
HOSTILE = f"printf '{MARKUP} {ESCAPES}'"


def shown(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('[data-log-view] .log-text')].map((line) => line.textContent)"
    )
    return found


def test_a_fast_log_is_complete_and_in_order(engineer_page: Page, engineer: httpx.Client) -> None:
    page = engineer_page
    pk = submitted(engineer, a_task("fast-log", FAST))
    page.goto(f"/tasks/{pk}/logs/")
    wanted = [f"line {number}" for number in range(1, LINES + 1)]
    until(lambda: len(shown(page)) >= LINES, seconds=60, what="as many lines as were written")
    assert shown(page) == wanted


def test_a_lost_connection_is_said_and_heals_without_a_gap(engineer_page: Page, engineer: httpx.Client) -> None:
    page = engineer_page
    pk = submitted(engineer, a_task("gap-log", "for i in $(seq 60); do echo line $i; sleep 0.2; done"))
    page.goto(f"/tasks/{pk}/logs/")
    until(lambda: len(shown(page)) > 5, what="some lines")
    page.context.set_offline(True)
    page.wait_for_timeout(3_000)
    page.context.set_offline(False)
    wanted = [f"line {number}" for number in range(1, 61)]
    until(lambda: shown(page) == wanted, seconds=60, what="every line once, in order")


def test_a_hostile_line_is_only_text(engineer_page: Page, engineer: httpx.Client) -> None:
    page = engineer_page
    pk = submitted(engineer, a_task("hostile-log", HOSTILE + "; sleep 2"))
    page.goto(f"/tasks/{pk}/logs/")
    view = page.locator("[data-log-view]")
    expect(view).to_contain_text(MARKUP, timeout=30_000)
    assert view.locator("img").count() == 0
    assert view.locator("a").count() == 0
    assert "\x1b" not in (view.text_content() or "")
