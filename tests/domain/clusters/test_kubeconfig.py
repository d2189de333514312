"""Reading a pasted kubeconfig: what is taken, every reason for which one is not, and nothing that ever breaks it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.clusters.domain.kubeconfig import Chosen, read_kubeconfig
from apps.clusters.domain.kubeconfig_faults import FAULTS
from apps.clusters.domain.sign_in import SignIn
from apps.kernel.errors import Code, Refusal
from apps.kernel.text import translated
from tests.domain.clusters.kubeconfigs import CA, CLIENT, TOKEN, a_kubeconfig, by_certificate, in_base64
from tests.support.certificates import DAY, NOON, YEAR, a_certificate, key_text

OLD = a_certificate("old", since=NOON - YEAR, until=NOON - DAY)
OLD_CLIENT = a_certificate("ada", by=CA, until=NOON - DAY)
EARLY = a_certificate("ada", by=CA, since=NOON + DAY)
STRANGER = a_certificate("eve", by=CA)
BLOCK = """
apiVersion: v1
kind: Config
current-context: b
contexts:
- {name: a, context: {cluster: one, user: ada}}
- {name: b, context: {cluster: two, user: ada}}
clusters:
- {name: one, cluster: {server: https://one:6443}}
- {name: two, cluster: {server: "https://two:6443/", tls-server-name: kubernetes, insecure-skip-tls-verify: true}}
users:
- {name: ada, user: {token: s3cret-token, exec: null}}
"""


def read(text: str, context: str = "") -> Chosen | Refusal:
    return read_kubeconfig(text, now=NOON, context=context)


def test_a_token_with_its_authority_is_taken() -> None:
    signed_in = SignIn("https://10.0.0.1:6443", TOKEN, CA.certificate)
    assert read(a_kubeconfig()) == Chosen(signed_in, "admin@beijing", ("admin@beijing",))


def test_a_client_certificate_with_its_key_is_taken() -> None:
    found = read(a_kubeconfig(user=by_certificate()))
    assert isinstance(found, Chosen)
    assert found.sign_in == SignIn("https://10.0.0.1:6443", "", CA.certificate, CLIENT.certificate, CLIENT.key)


def test_the_current_context_counts_unless_another_is_asked_for() -> None:
    two = SignIn("https://two:6443", TOKEN, None, verify=False, server_name="kubernetes")
    assert read(BLOCK) == Chosen(two, "b", ("a", "b"))
    assert read(BLOCK, "a") == Chosen(SignIn("https://one:6443", TOKEN), "a", ("a", "b"))


def test_no_secret_shows_when_a_sign_in_is_printed() -> None:
    printed = repr(read(a_kubeconfig(user=by_certificate() | {"token": TOKEN})))
    assert (TOKEN in printed, CLIENT.key[40:80] in printed) == (False, False)


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("exec", a_kubeconfig(user={"exec": {"command": "aws"}})),
        ("exec", a_kubeconfig(user={"token": TOKEN, "exec": {"command": "/bin/sh"}})),
        ("auth_provider", a_kubeconfig(user={"auth-provider": {"name": "gcp"}})),
        ("file", a_kubeconfig(cluster={"certificate-authority": "/etc/shadow"})),
        ("file", a_kubeconfig(user={"client-certificate": "a.crt", "client-key": "a.key"})),
        ("file", a_kubeconfig(user=by_certificate() | {"client-key": "/root/.ssh/id_rsa"})),
        ("file", a_kubeconfig(user={"token": TOKEN, "tokenFile": "/var/run/secrets/token"})),
        ("password", a_kubeconfig(user={"username": "ada", "password": "x"})),
        ("impersonation", a_kubeconfig(user={"token": TOKEN, "as": "root"})),
        ("impersonation", a_kubeconfig(user={"token": TOKEN, "as-groups": ["system:masters"]})),
        ("impersonation", a_kubeconfig(user={"token": TOKEN, "as-user-extra": {"a": ["b"]}})),
        ("proxy", a_kubeconfig(cluster={"proxy-url": "http://proxy:3128"})),
        ("several_contexts", a_kubeconfig(contexts=("a", "b"), current="")),
        ("unknown_context", a_kubeconfig(current="gone")),
        ("no_contexts", a_kubeconfig(contexts=())),
        ("no_cluster", a_kubeconfig(clusters=[])),
        ("no_user", a_kubeconfig(users=[{"name": "eve", "user": {"token": TOKEN}}])),
        ("no_server", a_kubeconfig(cluster={"server": ""})),
        ("bad_server", a_kubeconfig(cluster={"server": "ftp://10.0.0.1"})),
        ("bad_server", a_kubeconfig(cluster={"server": "https://"})),
        ("bad_server", a_kubeconfig(cluster={"server": "https://[::1"})),
        ("bad_server", a_kubeconfig(cluster={"server": "https://a:99999"})),
        ("bad_server", a_kubeconfig(cluster={"server": "https://a\r\nHost: b"})),
        ("bad_server", a_kubeconfig(cluster={"server": "https://a?b=c"})),
        ("server_with_user", a_kubeconfig(cluster={"server": "https://ada:pw@10.0.0.1"})),
        ("plain_http", a_kubeconfig(cluster={"server": "http://10.0.0.1:8080"})),
        ("bad_server_name", a_kubeconfig(cluster={"tls-server-name": "no host"})),
        ("insecure_with_ca", a_kubeconfig(cluster={"insecure-skip-tls-verify": True})),
        ("ca_not_pem", a_kubeconfig(cluster={"certificate-authority-data": in_base64("hello")})),
        ("ca_not_pem", a_kubeconfig(cluster={"certificate-authority-data": "%%%"})),
        ("ca_expired", a_kubeconfig(cluster={"certificate-authority-data": in_base64(OLD.certificate)})),
        ("client_not_pem", a_kubeconfig(user=by_certificate("hello"))),
        ("client_not_pem", a_kubeconfig(user={"client-key-data": in_base64(CLIENT.key)})),
        ("client_expired", a_kubeconfig(user=by_certificate(OLD_CLIENT.certificate, OLD_CLIENT.key))),
        ("client_not_yet", a_kubeconfig(user=by_certificate(EARLY.certificate, EARLY.key))),
        ("key_not_pem", a_kubeconfig(user=by_certificate(key="hello"))),
        ("key_not_pem", a_kubeconfig(user={"client-certificate-data": in_base64(CLIENT.certificate)})),
        ("key_locked", a_kubeconfig(user=by_certificate(key=key_text(CLIENT.secret, "pass")))),
        ("key_of_another", a_kubeconfig(user=by_certificate(key=STRANGER.key))),
        ("no_credentials", a_kubeconfig(user={})),
        ("bad_token", a_kubeconfig(user={"token": "two words"})),
        ("bad_token", a_kubeconfig(user={"token": "a\r\nHost: evil"})),
        ("no_kubeconfig", ""),
        ("no_kubeconfig", "hello"),
        ("no_kubeconfig", "[1, 2]"),
        ("no_kubeconfig", "apiVersion: v1\nkind: Pod\nclusters: []"),
        ("no_kubeconfig", "apiVersion: v1\nkind: Config"),
        ("not_yaml", "a: [b\nc: d"),
        ("not_yaml", "a: \x00"),
        ("not_yaml", "? [a]\n: b"),
        ("aliases", "a: &a [x]\nb: *a"),
        ("twice", "kind: Config\nkind: Pod"),
        ("documents", "a: b\n---\nc: d"),
        ("too_deep", "[" * 50 + "]" * 50),
        ("too_deep", "[" * 200_000),
        ("too_many", "[" + "a," * 100_000 + "]"),
        ("too_large", "#" * (256 * 1024 + 1)),
    ],
)
def test_what_is_not_taken_says_which_reason_it_is(reason: str, text: str) -> None:
    found = read(text)
    assert isinstance(found, Refusal)
    assert found.numbers["reason"] == reason, found


def test_every_reason_has_two_sentences_at_a_field() -> None:
    """One for what is wrong, one for what to do; nothing is left open in them."""
    found = read(a_kubeconfig(user={"exec": {"command": "aws"}}))
    assert isinstance(found, Refusal)
    assert (found.code, list(found.fields), len(found.fields["kubeconfig"])) == (Code.INVALID, ["kubeconfig"], 2)
    assert translated(found.detail, lambda english: english.replace("signs in by", "meldet sich an mit")) == (
        "the user “ada” meldet sich an mit a program (exec), which would run on our server"
    )
    assert all(sentence and instead for sentence, instead in FAULTS.values())


def test_contexts_are_listed_so_that_one_can_be_chosen() -> None:
    found = read(a_kubeconfig(contexts=("a", "b"), current=""))
    assert isinstance(found, Refusal)
    assert (found.numbers["contexts"], found.numbers["count"], list(found.fields)) == (["a", "b"], 2, ["context"])
    assert isinstance(read(a_kubeconfig(contexts=("a", "b"), current=""), "b"), Chosen)


@pytest.mark.parametrize("server", ["http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:8001"])
def test_plain_http_is_taken_on_the_machine_itself(server: str) -> None:
    assert isinstance(read(a_kubeconfig(cluster={"server": server})), Chosen)


def test_an_authority_that_is_being_renewed_is_taken_with_its_old_certificate() -> None:
    both = OLD.certificate + CA.certificate
    assert isinstance(read(a_kubeconfig(cluster={"certificate-authority-data": in_base64(both)})), Chosen)


YAML_LIKE = st.text(alphabet=st.sampled_from("ab:-?*&!|>%@`'\"{}[],#\n\t \\x0Uu…\x85\ufeff\x07"), max_size=60)
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.dictionaries(
    st.sampled_from(["server", "token", "exec", "certificate-authority-data", "client-key-data", "tls-server-name"]),
    VALUES,
)


@given(st.text() | YAML_LIKE, st.text(max_size=5))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_sign_in_or_a_refusal(text: str, context: str) -> None:
    assert isinstance(read(text, context), Chosen | Refusal)


@given(cluster=PARTS, user=PARTS, contexts=VALUES)
@settings(max_examples=200, deadline=None)
def test_any_values_in_a_kubeconfig_give_a_sign_in_or_a_refusal(cluster: Any, user: Any, contexts: Any) -> None:
    assert isinstance(read(a_kubeconfig(cluster=cluster, user=user)), Chosen | Refusal)
    assert isinstance(read(a_kubeconfig(contexts=("a",), current=contexts)), Chosen | Refusal)
    assert isinstance(read(a_kubeconfig(clusters=contexts, users=contexts)), Chosen | Refusal)
