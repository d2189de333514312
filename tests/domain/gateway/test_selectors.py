"""Label selectors, as the API server reads them."""

from __future__ import annotations

import pytest

from apps.clusters.gateway.selectors import matches

LABELS = {"platform/task-id": "t1", "app": "train"}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, True),
        ("", True),
        ({"app": "train"}, True),
        ({"app": "train1"}, False),
        ("app=train", True),
        ("app==train", True),
        ("app!=train", False),
        ("missing!=x", True),
        ("platform/task-id", True),
        ("missing", False),
        ("!missing", True),
        ("!app", False),
        ("app in (serve, train)", True),
        ("app notin (serve,train)", False),
        ("platform/task-id=t1,app=serve", False),
        ("platform/task-id=t1, app=train", True),
        ("app in (a,train),platform/task-id", True),
    ],
)
def test_selects_by_equality_existence_and_sets(selector: str | dict[str, str] | None, expected: bool) -> None:
    assert matches(LABELS, selector) is expected


@pytest.mark.parametrize("selector", ["=x", "a=(b", "a in b", ",,"])
def test_refuses_what_is_no_selector(selector: str) -> None:
    with pytest.raises(ValueError, match="unable to parse"):
        matches(LABELS, selector)
