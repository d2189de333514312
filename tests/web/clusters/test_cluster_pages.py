"""A cluster in the browser: added with its check list seen before, checked, signed in to differently."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.clusters import sealing
from apps.clusters.models import Cluster
from tests.domain.clusters.kubeconfigs import TOKEN, a_kubeconfig
from tests.services.clusters.kubernetes_like import NODES, RIGHTS, VERSION, known_as, kubernetes_like, said
from tests.services.gateway.serving import Answer
from tests.support.world import World

NEW = "/clusters/-/new/"
FRAGMENT: dict[str, Any] = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "verdict"}


@pytest.fixture
def ada(world: World) -> Client:
    return browser(world.ada)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def pasted(url: str, **changes: Any) -> dict[str, Any]:
    text = a_kubeconfig(cluster={"server": url, "certificate-authority-data": ""})
    form = {"name": "shanghai", "namespace_prefix": "ours", "way": "kubeconfig", "kubeconfig": text, "do": "check"}
    return form | changes


def in_parts(url: str, **changes: Any) -> dict[str, Any]:
    form = {"name": "shanghai", "way": "parts", "server": url, "token": TOKEN, "verify": "on", "do": "check"}
    return form | changes


def words(answer: Any) -> str:
    text: str = answer.content.decode()
    return text


def test_the_check_list_is_seen_before_anything_is_stored(ada: Client) -> None:
    with kubernetes_like() as served:
        answer = ada.post(NEW, pasted(served.url), **FRAGMENT)
    page = words(answer)
    assert (answer.status_code, "<html" in page, Cluster.objects.count()) == (200, False, 0)
    assert ('value="save"' in page, "Tasks can run here." in page, f"{RIGHTS} in order" in page) == (True, True, True)
    assert (TOKEN in page, "v1.37.2" in page) == (False, True)


@pytest.mark.parametrize("form", [pasted, in_parts])
def test_then_it_is_added_and_its_page_opens_without_a_reload(ada: Client, form: Any) -> None:
    with kubernetes_like() as served:
        answer = ada.post(NEW, form(served.url, do="save"), **FRAGMENT)
    cluster = Cluster.objects.get()
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/clusters/shanghai/")
    assert sealing.unseal_credentials(cluster.credentials).token == TOKEN
    assert [*AuditEvent.objects.values_list("action", "source")] == [("cluster.added", "web")]
    assert "was added" in words(ada.get("/clusters/shanghai/"))


def test_a_chosen_file_is_as_good_as_pasted_text(ada: Client) -> None:
    with kubernetes_like() as served:
        form = pasted(served.url)
        file = SimpleUploadedFile("config", form.pop("kubeconfig").encode())
        answer = ada.post(NEW, form | {"kubeconfig_file": file, "do": "save"})
    assert (answer.status_code, Cluster.objects.count()) == (302, 1)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x" * 300_000, b"", b"- a"])
def test_a_file_that_is_no_kubeconfig_says_so(ada: Client, content: bytes) -> None:
    form = pasted("") | {"kubeconfig": "", "kubeconfig_file": SimpleUploadedFile("config", content)}
    page = words(ada.post(NEW, form, **FRAGMENT))
    assert ("data-error-summary" in page, 'href="#kubeconfig"' in page, Cluster.objects.count()) == (True, True, 0)


def test_a_refused_kubeconfig_says_why_and_what_to_do_and_is_not_sent_back(ada: Client) -> None:
    text = a_kubeconfig(user={"token": TOKEN, "exec": {"command": "aws"}})
    page = words(ada.post(NEW, pasted("", kubeconfig=text)))
    assert ("which would run on our server" in page, "sh deploy/rbac/kubeconfig.sh prints" in page) == (True, True)
    assert (TOKEN in page, 'value="shanghai"' in page) == (False, True)


def test_one_of_several_contexts_is_chosen(ada: Client) -> None:
    with kubernetes_like() as served:
        server = {"server": served.url, "certificate-authority-data": ""}
        text = a_kubeconfig(cluster=server, contexts=("a", "b"), current="")
        first = words(ada.post(NEW, pasted("", kubeconfig=text), **FRAGMENT))
        ada.post(NEW, pasted("", kubeconfig=text, context="b", do="save"), **FRAGMENT)
    assert ('<option value="b"' in first, "Tasks can run here." in first) == (True, False)
    assert Cluster.objects.count() == 1


@pytest.mark.parametrize("do", ["check", "save", "save-anyway"])
def test_a_cluster_at_fault_cannot_be_added_and_is_told_how_to_be_put_right(ada: Client, do: str) -> None:
    with kubernetes_like({VERSION: Answer(body=b"<html><script>x</script>")}) as served:
        page = words(ada.post(NEW, in_parts(served.url, do=do), **FRAGMENT))
    assert ("cannot be used yet" in page, 'value="save' in page, "kubectl config view" in page) == (True, False, True)
    assert ("<script>x" in page, Cluster.objects.count()) == (False, 0)


def test_nobody_there_is_added_only_by_the_button_that_says_so(ada: Client) -> None:
    silent = in_parts("http://127.0.0.1:1", do="save")
    page = words(ada.post(NEW, silent, **FRAGMENT))
    before = Cluster.objects.count()
    ada.post(NEW, silent | {"do": "save-anyway"}, **FRAGMENT)
    assert ("save-anyway" in page, 'value="save"' in page, before, Cluster.objects.count()) == (True, False, 0, 1)


def test_warnings_are_shown_and_keep_nobody_out(ada: Client) -> None:
    with kubernetes_like({NODES: said({"items": []})}) as served:
        page = words(ada.post(NEW, in_parts(served.url), **FRAGMENT))
    assert ("nothing can run here yet" in page, 'value="save"' in page) == (True, True)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("name", {"name": ""}),
        ("name", {"name": "Bad Name\x00"}),
        ("server", {"server": "http://10.0.0.1"}),
        ("token", {"token": ""}),
        ("ca", {"ca": "hello"}),
        ("namespace_prefix", {"namespace_prefix": "9"}),
    ],
)
def test_a_wrong_field_is_linked_from_the_summary(ada: Client, field: str, changes: dict[str, str]) -> None:
    page = words(ada.post(NEW, in_parts("http://127.0.0.1:1", **changes), **FRAGMENT))
    assert (f'href="#{field}"' in page, Cluster.objects.count()) == (True, 0)


def test_credentials_are_rotated_after_they_were_tried(world: World, ada: Client) -> None:
    world.a_cluster()
    place = "/clusters/beijing/credentials/"
    with kubernetes_like() as served:
        page = words(ada.post(place, in_parts(served.url), **FRAGMENT))
        untouched = bytes(Cluster.objects.get().credentials)
        answer = ada.post(place, in_parts(served.url, do="save"), **FRAGMENT)
    row = Cluster.objects.get()
    assert ("Use the new credentials" in page, untouched, answer["HX-Redirect"]) == (True, b"", "/clusters/beijing/")
    assert (row.server, sealing.unseal_credentials(row.credentials).token) == (served.url, TOKEN)


def test_another_clusters_credentials_need_the_button_that_says_so(world: World, ada: Client) -> None:
    world.a_cluster(identity="one")
    with kubernetes_like(known_as("two")) as served:
        form = in_parts(served.url, do="save")
        page = words(ada.post("/clusters/beijing/credentials/", form, **FRAGMENT))
        before = Cluster.objects.get().identity
        ada.post("/clusters/beijing/credentials/", form | {"do": "save-anyway"}, **FRAGMENT)
    assert ("another cluster than before" in page, 'value="save"' in page, before) == (True, False, "one")
    assert Cluster.objects.get().identity == "two"


def test_check_now_answers_with_the_list_alone(world: World, ada: Client) -> None:
    world.a_cluster()
    answer = ada.post("/clusters/beijing/check/", HTTP_HX_REQUEST="true", HTTP_HX_TARGET="checks")
    page = words(answer)
    assert (answer.status_code, "<html" in page, 'id="checks"' in page) == (200, False, True)
    assert "1 fault" in page


def test_everybody_reads_the_list_and_only_administrators_get_the_buttons(world: World, ada: Client) -> None:
    with kubernetes_like({NODES: said({"items": []})}) as served:
        ada.post(NEW, in_parts(served.url, do="save"))
    pages = {"ada": ada, "charlie": browser(world.charlie)}
    shown = {name: words(client.get("/clusters/shanghai/")) for name, client in pages.items()}
    lists = {name: words(client.get("/clusters/")) for name, client in pages.items()}
    assert ["Join a node" in page for page in shown.values()] == [True, True]
    assert ["Check now" in page for page in shown.values()] == [True, False]
    assert [(NEW in page, "1 warning" in page) for page in lists.values()] == [(True, True), (False, True)]


def test_the_list_reads_chinese_whenever_it_was_made(world: World, ada: Client) -> None:
    with kubernetes_like({NODES: said({"items": []})}) as served:
        ada.post(NEW, in_parts(served.url, do="save"))
    page = words(ada.get("/clusters/shanghai/", HTTP_ACCEPT_LANGUAGE="zh-hans"))
    assert ("检查清单" in page, "Join a node" in page, "None: nothing can run" in page) == (True, False, False)
