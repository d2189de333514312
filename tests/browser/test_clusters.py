"""The administrator adds a cluster: the list is seen first, in both languages, on a phone too; nothing reloads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_looks import keep, seen, serious
from tests.domain.clusters.kubeconfigs import a_kubeconfig
from tests.services.clusters.kubernetes_like import NODES, STORAGE, a_list, a_node, kubernetes_like
from tests.services.gateway.serving import Served
from tests.support.browsing import Look, signed_in
from tests.support.demo import Demo

FORM = "/clusters/-/new/"


@pytest.fixture
def page(look: Look, demo: Demo, browser: Browser) -> Iterator[Page]:
    with signed_in(demo, browser, "admin", look) as page:
        yield page


@pytest.fixture
def served() -> Iterator[Served]:
    """A cluster of one node whose cards have no labels, and without storage."""
    with kubernetes_like({NODES: a_list(a_node("gpu-0", **{"nvidia.com/gpu": "8"})), STORAGE: a_list()}) as served:
        yield served


def kubeconfig_of(served: Served) -> str:
    return a_kubeconfig(cluster={"server": served.url, "certificate-authority-data": ""})


def test_the_check_list_comes_beside_the_form_and_keeps_what_was_typed(page: Page, look: Look, served: Served) -> None:
    faults = seen(page, look, FORM)
    page.locator("#name").fill("elsewhere")
    page.locator("#kubeconfig").fill(kubeconfig_of(served))
    page.locator("button[value=check]").click()
    expect(page.locator("#check-cards[data-state=warn]")).to_be_visible()
    assert page.locator("#kubeconfig").input_value() == kubeconfig_of(served)
    assert page.locator("#check-cards code").first.text_content() == "kubectl label node gpu-0 platform/mark=a100-80g"
    expect(page.locator("button[value=save]")).to_be_enabled()
    page.wait_for_timeout(300)  # axe would measure a colour half-way
    keep(page, look, f"{FORM}checked/")
    assert (faults, page.evaluate("document.documentElement.scrollWidth > innerWidth"), serious(page, FORM)) == (
        [],
        False,
        [],
    )


def test_a_kubeconfig_that_runs_a_program_is_refused_at_its_field(page: Page, look: Look) -> None:
    page.goto(FORM)
    page.locator("#kubeconfig").fill(a_kubeconfig(user={"exec": {"command": "aws"}}))
    page.locator("button[value=check]").click()
    page.locator("[data-error-summary] a").first.click()
    expect(page.locator("#kubeconfig")).to_be_focused()
    keep(page, look, f"{FORM}refused/")


def test_check_now_renews_the_list_in_place(page: Page, look: Look) -> None:
    page.goto("/clusters/beijing/")
    page.evaluate("window.here = true")
    page.locator("#checks form button").click()
    expect(page.locator("#check-kubernetes[data-state=ok]")).to_be_visible()
    assert page.evaluate("window.here") is True
    faults = seen(page, look, "/clusters/beijing/credentials/")
    assert (faults, serious(page, "credentials")) == ([], [])
