"""Names on a cluster (domain.md §3; F08, F27, F28)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from apps.kernel.names import DNS_1123_LABEL
from apps.tasks.domain.naming import attempt_object_name, namespace_for, scope_label

SLUGS = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,60}[a-z0-9])?", fullmatch=True)
PREFIXES = st.from_regex(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?", fullmatch=True)


def test_a_scope_has_its_own_namespace() -> None:
    assert namespace_for("platform", project_slug="map-team", user_pk=7) == "platform-p-map-team"
    assert namespace_for("platform", project_slug=None, user_pk=7) == "platform-u-7"
    assert scope_label(project_slug="map-team", user_pk=7) == "p-map-team"
    assert scope_label(project_slug=None, user_pk=7) == "u-7"


@given(PREFIXES, SLUGS)
def test_f28_namespaces_and_scope_labels_are_dns_labels_however_long_the_project(prefix: str, slug: str) -> None:
    assert DNS_1123_LABEL.fullmatch(namespace_for(prefix, project_slug=slug, user_pk=1))
    assert DNS_1123_LABEL.fullmatch(scope_label(project_slug=slug, user_pk=1))


def test_f28_a_long_name_is_cut_and_told_apart_by_a_hash() -> None:
    one, other = (scope_label(project_slug="a" * 62 + end, user_pk=1) for end in "xy")
    assert (len(one), len(other), one[:52], one == other) == (63, 63, "p-" + "a" * 50, False)


@given(SLUGS, SLUGS, st.integers(1, 10**9))
def test_f27_two_scopes_never_share_a_namespace(one: str, other: str, user: int) -> None:
    names = {namespace_for("platform", project_slug=slug, user_pk=user) for slug in (one, other, None)}
    assert len(names) == len({one, other, None})


def test_f08_a_later_attempt_has_a_fresh_name() -> None:
    assert [attempt_object_name("train-abcdefgh", number) for number in (1, 2, 30)] == [
        "train-abcdefgh",
        "train-abcdefgh-2",
        "train-abcdefgh-30",
    ]
