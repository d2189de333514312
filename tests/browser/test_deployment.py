"""The engineer's Deployment, as a person clicks it (issue's walk)."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from tests.browser.test_by_rest import uids
from tests.support.demo import until

SERVE = "sh -c 'echo serving; while true; do sleep 1; done'"


def create(page: Page, name: str) -> str:
    page.goto("/tasks/new/?start=service")
    page.locator("[name=display_name]").fill(name)
    page.locator("[name=project]").select_option("map-team")
    page.locator("[name=nodes]").fill("2")
    page.locator("[name=containers-0-image]").fill("busybox:1.36")
    page.locator("[name=containers-0-command]").fill(SERVE)
    page.locator("[name=containers-0-cpu]").fill("100m")
    page.locator("[name=containers-0-memory]").fill("64Mi")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile(r"/tasks/[0-9a-f-]{36}/$"))
    return page.url.rstrip("/").rsplit("/", 1)[1]


def scale(page: Page, nodes: int) -> None:
    page.get_by_label("More").click()
    page.locator("[data-verb=scale]").first.click()
    page.locator("#scale-nodes").fill(str(nodes))
    page.locator("#dialog").get_by_role("button", name="Scale").click()


def test_a_service_is_scaled_changed_watched_and_rolled_back(engineer_page: Page, engineer: httpx.Client) -> None:
    page = engineer_page
    pk = create(page, "walk-service")
    badge = page.locator("#status .state").first
    expect(badge).to_contain_text("running", timeout=40_000, ignore_case=True)
    old = uids(engineer, pk)
    scale(page, 5)
    until(lambda: len(uids(engineer, pk)) == 5, what="five instances run")
    scale_back(page)
    until(lambda: uids(engineer, pk) == old, what="the two old instances are left")
    change_image(page, pk)
    expect(badge).to_contain_text("running", timeout=60_000, ignore_case=True)
    assert uids(engineer, pk).isdisjoint(old)
    page.goto(f"/tasks/{pk}/revisions/")
    page.get_by_role("button", name="Roll back").click()
    expect(page.locator("#status")).to_contain_text("running", timeout=60_000, ignore_case=True)
    until(lambda: image_of(engineer, pk) == "busybox:1.36", what="the old image is back")
    engineer.delete(f"/tasks/{pk}")
    expect(page.locator("#toasts")).to_contain_text("no longer there")


def scale_back(page: Page) -> None:
    expect(page.locator("#dialog dialog")).to_have_count(0)
    scale(page, 2)


def change_image(page: Page, pk: str) -> None:
    page.goto(f"/tasks/{pk}/edit/")
    page.locator("[name=containers-0-image]").fill("busybox:1.37")
    page.get_by_role("button", name="Show the difference").click()
    expect(page.locator("main")).to_contain_text("busybox:1.37")
    expect(page.locator("main")).to_contain_text("busybox:1.36")
    page.get_by_role("button", name="Change and roll out").click()
    page.wait_for_url(re.compile(r"/tasks/[0-9a-f-]{36}/$"))
    expect(page.locator("#status .state").first).to_contain_text("updating", timeout=10_000, ignore_case=True)


def image_of(caller: httpx.Client, pk: str) -> str:
    return str(caller.get(f"/tasks/{pk}").json()["containers"][0]["image"])
