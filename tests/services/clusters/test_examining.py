"""Asking whatever answers at an address: each absurd answer is one clear row, nothing hangs (issue 4, Bad input)."""

from __future__ import annotations

import base64
import json
import ssl
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.clusters import services
from apps.clusters.domain.checklist import Verdict, verdict
from apps.clusters.domain.checklist_rows import Check, State
from apps.clusters.domain.sign_in import SignIn
from apps.clusters.gateway.kube import client as client_module
from apps.kernel.clock import now as present
from tests.services.clusters.kubernetes_like import (
    APIS,
    CLASSES,
    NODES,
    REVIEWS,
    RIGHTS,
    VERSION,
    kubernetes_like,
    said,
    tls_of,
)
from tests.services.gateway.serving import Answer
from tests.support.certificates import DAY, YEAR, Pair, a_certificate

pytestmark = pytest.mark.django_db
NOW = present()
TOKEN = "s3cret-token"


def fresh(name: str = "kubernetes", **facts: Any) -> Pair:
    """A certificate that is valid at the real present, unlike the tests' fixed noon."""
    return a_certificate(name, **({"since": NOW - YEAR, "until": NOW + YEAR} | facts))


CA = fresh("authority")


def examined(server: str, **how: Any) -> tuple[Check, ...]:
    return services.examine(SignIn(server, **({"token": TOKEN} | how)), now=NOW)


def wrong(checks: tuple[Check, ...]) -> list[tuple[str, str]]:
    return [(row.name, row.token) for row in checks if row.state is not State.OK]


def test_a_cluster_that_is_well_is_told_to_be_well() -> None:
    with kubernetes_like() as served:
        found = examined(served.url)
    tokens = {request[2].get("Authorization") for request in served.requests}
    assert (wrong(found), verdict(found), tokens) == ([], Verdict.FITS, {f"Bearer {TOKEN}"})
    assert sum(row.name == "right" for row in found) == RIGHTS
    assert not [request for request in served.requests if request[0] != "GET" and request[1] != REVIEWS]


@pytest.mark.parametrize(
    ("expected", "path", "answer"),
    [
        (("kubernetes", "not_kubernetes"), VERSION, Answer(body=b"<html>welcome</html>")),
        (("kubernetes", "not_kubernetes"), VERSION, Answer(404, body=b"<html>no</html>")),
        (("kubernetes", "not_kubernetes"), VERSION, Answer(body=b"")),
        (("kubernetes", "not_kubernetes"), VERSION, Answer(body=b"[1]")),
        (("kubernetes", "not_kubernetes"), VERSION, Answer(body=b'{"gitVersion": 5}')),
        (("kubernetes", "not_kubernetes"), VERSION, Answer(body=b"\xff\xfe\x00")),
        (("kubernetes", "redirect"), VERSION, Answer(302, headers={"Location": "http://127.0.0.1:1/"})),
        (("kubernetes", "server_fault"), VERSION, Answer(503, body=b"busy")),
        (("kubernetes", "forbidden"), VERSION, said({"kind": "Status", "message": "no", "code": 403}, 403)),
        (("credentials", "credentials_refused"), VERSION, said({"kind": "Status", "code": 401}, 401)),
        (("credentials", "credentials_refused"), APIS, said({"kind": "Status", "code": 401}, 401)),
        (("kubernetes", "not_kubernetes"), APIS, Answer(body=b"hello")),
        (("right", "no_reviews"), REVIEWS, said({"kind": "Status", "code": 404}, 404)),
        (("right", "server_fault"), REVIEWS, Answer(500, body=b"boom")),
        (("priority_class", "not_kubernetes"), CLASSES, Answer(body=b"<html>")),
        (("nodes", "forbidden"), NODES, said({"kind": "Status", "message": "no", "code": 403}, 403)),
        (("nodes", "not_kubernetes"), NODES, said({"items": ["text"]})),
    ],
)
def test_one_absurd_answer_is_one_row(expected: tuple[str, str], path: str, answer: Answer) -> None:
    with kubernetes_like({path: answer}) as served:
        assert wrong(examined(served.url)) == [expected]


def test_a_giant_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LARGEST_ANSWER", 100_000)
    giant = Answer(body=[b"x" * 65_536] * 40)
    with kubernetes_like({VERSION: giant}) as version, kubernetes_like({NODES: giant}) as nodes:
        found = [wrong(examined(served.url)) for served in (version, nodes)]
    assert found == [[("kubernetes", "too_large")], [("nodes", "too_large")]]


def test_a_list_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.clusters.gateway.kube.survey.MOST_OBJECTS", 50)
    endless = said({"metadata": {"continue": "more"}, "items": [{"metadata": {"name": "a"}}] * 10})
    with kubernetes_like({NODES: endless}) as served:
        assert wrong(examined(served.url)) == [("nodes", "too_large")]


def test_a_megabyte_label_a_million_conditions_and_no_status_are_read_as_nodes() -> None:
    absurd = [
        {"metadata": {"name": "fat", "annotations": {"a": "x" * 10_000_000}}},
        {"metadata": {"name": "many"}, "status": {"conditions": [{"type": "Odd"}] * 200_000}},
        {"metadata": None, "status": None, "spec": None},
        {},
    ]
    with kubernetes_like({NODES: said({"items": absurd})}) as served:
        found = examined(served.url)
    (nodes,) = [row for row in found if row.name == "nodes"]
    assert (wrong(found), nodes.numbers) == ([("nodes", "nodes_unready")], {"count": 4, "ready": 0})


@pytest.mark.parametrize("path", [VERSION, NODES])
def test_a_server_that_trickles_is_not_waited_for(settings: Settings, path: str) -> None:
    settings.CLUSTER_TIMEOUT_SECONDS = 0.5
    slow = Answer(body=[b" "] * 200, pause=0.1)
    with kubernetes_like({path: slow}) as served:
        began = time.monotonic()
        found = wrong(examined(served.url))
        took = time.monotonic() - began
    assert ([token for _name, token in found], took < 5) == (["too_slow"], True)


def test_a_whole_survey_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.clusters.gateway.kube.survey.LONGEST_SURVEY", -1.0)
    with kubernetes_like() as served:
        assert wrong(examined(served.url)) == [("kubernetes", "too_slow")]


@pytest.mark.parametrize("server", ["http://127.0.0.1:1", "https://127.0.0.1:1"])
def test_nobody_listening_is_unreachable(server: str) -> None:
    found = examined(server)
    assert ([(row.name, row.token) for row in found], verdict(found)) == ([("api", "refused")], Verdict.UNREACHABLE)


def test_a_name_that_is_not_known_is_said_to_be() -> None:
    assert wrong(examined("https://nowhere.invalid")) == [("api", "name_unknown")]


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
@pytest.mark.parametrize(
    ("expected", "facts", "how"),
    [
        ([], {"hosts": ("127.0.0.1",)}, {"ca": CA.certificate}),
        ([], {"hosts": ("kubernetes",)}, {"ca": CA.certificate, "server_name": "kubernetes"}),
        ([("certificate", "certificate_unchecked")], {"hosts": ("elsewhere",)}, {"verify": False}),
        ([("certificate", "other_host")], {"hosts": ("elsewhere",)}, {"ca": CA.certificate}),
        ([("certificate", "unknown_authority")], {"hosts": ("127.0.0.1",)}, {}),
        (
            [("certificate", "certificate_expired")],
            {"hosts": ("127.0.0.1",), "until": NOW - DAY},
            {"ca": CA.certificate},
        ),
        (
            [("certificate", "certificate_early")],
            {"hosts": ("127.0.0.1",), "since": NOW + DAY},
            {"ca": CA.certificate},
        ),
        (
            [("certificate", "certificate_soon")],
            {"hosts": ("127.0.0.1",), "until": NOW + DAY},
            {"ca": CA.certificate},
        ),
    ],
)
def test_a_servers_certificate_is_judged_before_anything_is_said(expected: Any, facts: Any, how: Any) -> None:
    with kubernetes_like(tls=tls_of(fresh(by=CA, **facts))) as served:
        found = examined(served.url, **how)
    refused = any(row.state is State.FAULT for row in found)
    assert (wrong(found), served.requests == []) == (expected, refused)


def test_a_certificate_of_another_host_says_whose_it_is() -> None:
    with kubernetes_like(tls=tls_of(fresh(by=CA, hosts=("elsewhere", "10.9.9.9")))) as served:
        (row,) = [row for row in examined(served.url, ca=CA.certificate) if row.name == "certificate"]
    assert row.numbers["names"] == ["elsewhere", "10.9.9.9"]


def test_a_plain_server_behind_an_https_address_is_told_to_be_one() -> None:
    with kubernetes_like() as served:
        found = examined(served.url.replace("http:", "https:"))
    assert (wrong(found), verdict(found)) == ([("certificate", "not_tls")], Verdict.UNFIT)


def open_files() -> list[str]:
    return [str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]


def test_a_client_certificate_signs_in_and_leaves_no_file_behind() -> None:
    client = fresh("ada", by=CA)
    how = {"token": "", "ca": CA.certificate, "client_certificate": client.certificate, "client_key": client.key}
    before = open_files()
    with kubernetes_like(tls=tls_of(fresh(by=CA, hosts=("127.0.0.1",)), clients_of=CA)) as served:
        found = examined(served.url, **how)
        without = examined(served.url, ca=CA.certificate)
    assert (wrong(found), {request[2].get("Authorization") for request in served.requests}) == ([], {None})
    assert verdict(without) is Verdict.UNFIT
    assert [name for name in open_files() if "memfd" in name and name not in before] == []


def test_a_server_that_wants_a_certificate_before_it_speaks_is_not_taken_for_a_plain_one() -> None:
    """TLS 1.2 tells at the handshake what TLS 1.3 tells later."""
    client, old = fresh("ada", by=CA), tls_of(fresh(by=CA, hosts=("127.0.0.1",)), clients_of=CA)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    how = {"token": "", "client_certificate": client.certificate, "client_key": client.key}
    with kubernetes_like(tls=old) as served:
        found = [wrong(examined(served.url, ca=CA.certificate, **more)) for more in (how, {})]
    assert found == [[], [("certificate", "untrusted")]]


def test_a_client_certificate_with_a_foreign_key_is_a_row() -> None:
    client, other = fresh("ada", by=CA), fresh("eve", by=CA)
    found = examined("https://127.0.0.1:1", token="", client_certificate=client.certificate, client_key=other.key)
    assert [(row.name, row.token) for row in found] == [("credentials", "credentials_unusable")]


def test_a_token_that_is_about_to_end_is_told() -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int((NOW + DAY).timestamp())}).encode()).decode().rstrip("=")
    with kubernetes_like() as served:
        assert wrong(examined(served.url, token=f"a.{claims}.b")) == [("credentials", "credentials_soon")]


def test_a_clock_that_is_off_is_told() -> None:
    late = Answer(body=b'{"gitVersion": "v1"}', headers={"Date": "Tue, 01 Dec 2020 12:00:00 GMT"})
    odd = Answer(body=b'{"gitVersion": "v1"}', headers={"Date": "noon"})
    with kubernetes_like({VERSION: late}) as behind, kubernetes_like({VERSION: odd}) as silent:
        found = [wrong(examined(served.url)) for served in (behind, silent)]
    assert found == [[("clock", "clock_off")], []]
