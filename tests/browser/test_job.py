"""The engineer's Job, from form to finished, as a person clicks it (issue's walk)."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from tests.support.demo import a_task, state_of, submitted, until

EPOCHS = "sh -c 'for i in $(seq 20); do echo epoch $i; sleep 1; done'"
COLOURED = "sh -c 'printf \"\\033[31mred alert\\033[0m\\n\"; for i in $(seq 15); do echo helper $i; sleep 1; done'"


def fill_two_containers(page: Page, name: str) -> None:
    page.goto("/tasks/new/?start=command")
    page.locator("[name=display_name]").fill(name)
    page.locator("[name=project]").select_option("map-team")
    page.locator("[name=mark]").select_option("rtx-4090")
    page.locator("[name=cards_per_node]").fill("1")
    page.locator("[name=containers-0-name]").fill("train")
    page.locator("[name=containers-0-image]").fill("busybox:1.36")
    page.locator("[name=containers-0-command]").fill(EPOCHS)
    page.get_by_role("button", name="Add a container").click()
    page.locator("[name=containers-1-name]").fill("helper")
    page.locator("[name=containers-1-image]").fill("busybox:1.36")
    page.locator("[name=containers-1-command]").fill(COLOURED)


def test_a_job_goes_from_form_to_finished_with_its_lines_live(engineer_page: Page) -> None:
    page = engineer_page
    fill_two_containers(page, "walk-job")
    expect(page.locator("#preview")).to_contain_text("10 cores", timeout=15_000)
    expect(page.locator("#preview")).to_contain_text("starts now", ignore_case=True)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile(r"/tasks/[0-9a-f-]{36}/$"))
    badge = page.locator("#status .state").first
    expect(badge).to_contain_text("running", timeout=30_000, ignore_case=True)
    page.goto(page.url + "logs/")
    expect(page.locator("[data-log-view]")).to_contain_text("epoch 5", timeout=20_000)
    expect(page.locator("[data-log-view]")).to_contain_text("red alert")
    expect(badge).to_contain_text("succeeded", timeout=40_000, ignore_case=True)
    expect(page.locator("[data-log-view]")).to_contain_text("epoch 20")


def test_a_long_job_is_paused_resumed_and_renamed(engineer_page: Page, engineer: httpx.Client) -> None:
    page = engineer_page
    pk = submitted(engineer, a_task("walk-long", "while true; do date; sleep 1; done"))
    page.goto(f"/tasks/{pk}/")
    badge = page.locator("#status .state").first
    expect(badge).to_contain_text("running", timeout=30_000, ignore_case=True)
    page.locator("[data-verb=pause]").click()
    expect(badge).to_contain_text("paused", timeout=40_000, ignore_case=True)
    page.locator("[data-verb=resume]").click()
    expect(badge).to_contain_text("running", timeout=40_000, ignore_case=True)
    page.get_by_label("More").click()
    page.locator("[data-verb=rename]").click()
    page.locator("#rename-name").fill("walk-renamed")
    page.locator("#dialog").get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", name="walk-renamed")).to_be_visible()
    engineer.post(f"/tasks/{pk}/stop")
    until(lambda: state_of(engineer, pk) == "stopped", what="the task is stopped")


def test_another_image_is_refused_with_the_reason_and_a_clone_is_offered(
    engineer_page: Page, engineer: httpx.Client
) -> None:
    page = engineer_page
    pk = submitted(engineer, a_task("walk-locked", "true"))
    page.goto(f"/tasks/{pk}/edit/")
    expect(page.locator("main")).to_contain_text("runs once")
    expect(page.locator("[name=containers-0-image]")).not_to_be_editable()
    page.get_by_role("link", name=re.compile("clone with changes", re.IGNORECASE)).first.click()
    page.locator("[name=containers-0-image]").fill("busybox:1.37")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url(re.compile(r"/tasks/[0-9a-f-]{36}/$"))
    assert pk not in page.url
