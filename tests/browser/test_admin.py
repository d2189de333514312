"""The administrator changes a quota, and the engineer's next submission is refused with the numbers."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.support.demo import a_task


def test_a_lowered_quota_refuses_the_next_submission(admin_page: Page, engineer: httpx.Client) -> None:
    page = admin_page
    page.goto("/admin/quotas/quota/?q=perception")
    row = page.locator("tr", has_text="jetson-xavier").first
    row.locator("input[name$=limit]").fill("0")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.locator("body")).to_contain_text("changed")
    device = {"mark": "jetson-xavier", "cards_per_node": 1, "nodes": 1}
    container = {"name": "main", "image": "busybox", "command": ["true"], "cpu": "1", "memory": "64Mi"}
    task = a_task("no-quota", "true", project="perception", resources=device, containers=[container])
    answer = engineer.post("/tasks", json=task)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (409, "quota_exceeded")
    numbers = [problem[name] for name in ("resource", "asked", "used", "limit")]
    assert numbers == ["cards:jetson-xavier", 1, 0, 0]
    page.goto("/admin/audit/auditevent/")
    expect(page.locator("body")).to_contain_text("quota.limit_set")
