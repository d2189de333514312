"""What a spec asks of a place, and what a place books for it (domain.md §§4, 6, 7; F04)."""

from __future__ import annotations

from typing import Any

import pytest

from apps.scheduling.domain.needs import need_of, place_amounts
from apps.scheduling.domain.selection import Selection, Toleration
from apps.scheduling.domain.snapshot import Need
from apps.tasks.domain.spec import KindName, ResourceRequest, TaskSpec
from tests.support.plant import bundle
from tests.support.specs import MARKS, a_gpu_spec, a_spec

TOLERATES_CARDS = Selection(tolerations=(Toleration("nvidia.com/gpu", "Exists", effect="NoSchedule"),))


def test_a_task_with_cards_asks_for_their_whole_share() -> None:
    assert need_of(a_gpu_spec(cards=2, nodes=3), MARKS) == Need(
        per_node=bundle(40_000, 206_848, 2),
        nodes=3,
        least=3,
        mark="rtx-4090",
        api="batch/v1",
        selection=TOLERATES_CARDS,
    )


def test_f04_a_mark_without_cards_is_cpu_only() -> None:
    spec = a_spec(resources=ResourceRequest("rtx-4090", 0, 1))
    assert need_of(spec, MARKS) == Need(per_node=bundle(4_000, 8_192), api="batch/v1")


def test_an_unknown_mark_is_kept_by_its_name() -> None:
    spec = a_gpu_spec(resources=ResourceRequest("h900", 1, 1))
    assert need_of(spec, MARKS).mark == "h900"


@pytest.mark.parametrize(("changes", "least"), [({}, 1), ({"min_available": 2}, 2), ({"min_available": 9}, 4)])
def test_a_deployment_starts_with_what_its_owner_named(changes: dict[str, Any], least: int) -> None:
    spec: TaskSpec = a_gpu_spec(KindName.DEPLOYMENT, nodes=4, **changes)
    found = need_of(spec, MARKS)
    assert (found.least, found.nodes, found.api) == (least, 4, "apps/v1")


def test_a_place_books_the_bound_share_and_nothing_that_is_nothing() -> None:
    assert place_amounts(need_of(a_gpu_spec(cards=1, nodes=2), MARKS)) == {
        "cards:rtx-4090": 2,
        "cpu": 40_000,
        "memory": 206_848,
    }
    assert place_amounts(need_of(a_spec(), MARKS)) == {"cpu": 4_000, "memory": 8_192}
