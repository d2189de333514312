"""The labels that the platform keeps on a node (domain.md §4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.domain.node_labels import MARK, MARK_WRITER, POOL, label_changes

PRODUCT = {"nvidia.com/gpu.product": "A100"}
OURS = {MARK: "a100-80g", MARK_WRITER: "platform"}


@pytest.mark.parametrize(
    ("labels", "pool", "mark", "selector", "expected"),
    [
        (PRODUCT, None, "a100-80g", PRODUCT, OURS),
        (PRODUCT, "public", "a100-80g", PRODUCT, {POOL: "public", **OURS}),
        (PRODUCT | OURS, None, "a100-80g", PRODUCT, {}),
        (PRODUCT | OURS | {MARK: "wrong"}, None, "a100-80g", PRODUCT, {MARK: "a100-80g"}),
        (PRODUCT | OURS, None, "renamed", PRODUCT, {MARK: "renamed"}),
        (OURS, None, None, {}, {MARK: None, MARK_WRITER: None}),
        (OURS | {POOL: "public"}, None, None, {}, {POOL: None, MARK: None, MARK_WRITER: None}),
        ({MARK_WRITER: "platform"}, None, None, {}, {MARK_WRITER: None}),
        ({MARK: "not-known-yet"}, None, None, {}, {}),
        ({MARK: "rtx-4090"}, None, "rtx-4090", {MARK: "rtx-4090"}, {}),
        ({MARK: "their-word"}, None, "rtx-4090", {MARK: "their-word"}, {}),
        ({}, None, None, {}, {}),
    ],
    ids=[
        "a node with cards and no pool gets its mark",
        "both at once",
        "nothing when all is right",
        "a changed label is put right",
        "a renamed mark is followed",
        "cards gone, so is what we wrote",
        "out of the pool, and no cards",
        "half of ours is left",
        "people label before the mark is known",
        "people label their nodes themselves",
        "people select the mark by a word of their own",
        "a CPU node stays as it is",
    ],
)
def test_what_is_written(
    labels: dict[str, str],
    pool: str | None,
    mark: str | None,
    selector: dict[str, str],
    expected: dict[str, str | None],
) -> None:
    assert label_changes(labels, pool=pool, mark=mark, selector=selector) == expected


words = st.sampled_from(["a", "b"])
some_labels = st.dictionaries(st.sampled_from([POOL, MARK, MARK_WRITER, "own"]), words, max_size=4)


@given(some_labels, st.none() | words, st.none() | words, st.dictionaries(st.just("own") | st.just(MARK), words))
def test_once_written_there_is_nothing_left_to_write_and_nothing_else_was_touched(
    labels: dict[str, str], pool: str | None, mark: str | None, selector: dict[str, str]
) -> None:
    changes = label_changes(labels, pool=pool, mark=mark, selector=selector)
    after = {name: value for name, value in {**labels, **changes}.items() if value is not None}
    assert label_changes(after, pool=pool, mark=mark, selector=selector) == {}
    assert after.get("own") == labels.get("own")
