"""What may change after creation (domain.md §2)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given

from apps.kernel.errors import Code
from apps.kernel.resources import MiB, Millicores
from apps.tasks.domain.immutability import Difference, changed_fields, diff, forbidden_changes, immutable_refusal
from apps.tasks.domain.spec import DatasetMount, KindName, Port, Priority, ResourceRequest, TaskSpec
from apps.tasks.kinds.registry import KINDS
from tests.support.specs import a_container, a_gpu_spec, a_spec, specs

OLD = a_gpu_spec()


def old_but(**changes: Any) -> TaskSpec:
    return dataclasses.replace(OLD, **changes)


def with_main(**changes: Any) -> TaskSpec:
    return old_but(containers=(a_container(**changes),))


@pytest.mark.parametrize(
    ("new", "paths"),
    [
        (with_main(image="other:2"), ("containers.0.image",)),
        (with_main(command=("sh",)), ("containers.0.command",)),
        (with_main(args=("a",)), ("containers.0.args",)),
        (with_main(env={"A": "1"}), ("containers.0.env.A",)),
        (with_main(cpu=Millicores(1)), ("containers.0.cpu",)),
        (with_main(ports=(Port(80),)), ("containers.0.ports.0",)),
        (old_but(containers=(a_container(), a_container("b"))), ("containers.1",)),
        (
            old_but(resources=ResourceRequest("a100-80g", 2, 3)),
            ("resources.mark", "resources.cards_per_node", "resources.nodes"),
        ),
        (old_but(shm=MiB(64)), ("shm",)),
        (old_but(datasets=(DatasetMount("a", "/a"),)), ("datasets.0",)),
        (old_but(advanced={"max_surge": 1}), ("advanced.max_surge",)),
        (old_but(labels={"a": "b"}), ("labels.a",)),
        (old_but(priority=Priority.LOW, project="map-team"), ("project", "priority")),
        (old_but(display_name="b", max_runtime=60), ("max_runtime",)),
    ],
)
def test_a_job_keeps_everything_but_its_name_and_names_every_offender(new: TaskSpec, paths: tuple[str, ...]) -> None:
    assert forbidden_changes(OLD, new, KINDS[KindName.JOB].mutable_fields) == paths


def test_a_job_may_be_renamed() -> None:
    assert forbidden_changes(OLD, old_but(display_name="other"), KINDS[KindName.JOB].mutable_fields) == ()


@given(specs(), specs())
def test_a_deployment_may_change_everything_but_its_scope_and_kind(old: TaskSpec, new: TaskSpec) -> None:
    found = forbidden_changes(old, new, KINDS[KindName.DEPLOYMENT].mutable_fields)
    assert found == tuple(name for name in ("kind", "project") if getattr(old, name) != getattr(new, name))


@given(specs(), specs())
def test_an_unchanged_spec_has_no_change_and_a_changed_one_has(old: TaskSpec, new: TaskSpec) -> None:
    assert changed_fields(old, old) == ()
    assert (changed_fields(old, new) == ()) == (old == new)


def test_a_removed_part_is_named_like_an_added_one() -> None:
    assert changed_fields(old_but(labels={"a": "b"}), OLD) == ("labels.a",)
    assert changed_fields(old_but(containers=(a_container(), a_container("b"))), OLD) == ("containers.1",)


def test_the_refusal_names_every_offending_field_and_the_way_out() -> None:
    found = immutable_refusal(("containers.0.image", "shm"), "Job")
    assert found is not None
    assert (found.code, sorted(found.fields)) == (Code.IMMUTABLE_FIELD, ["containers.0.image", "shm"])
    assert found.detail == "containers.0.image, shm: cannot change on a running Job; clone it with changes"
    assert immutable_refusal((), "Job") is None


def test_a_diff_is_read_row_by_row() -> None:
    old = a_spec(KindName.DEPLOYMENT, labels={"a": "b"})
    new = dataclasses.replace(old, labels={}, resources=ResourceRequest(nodes=3), containers=(a_container(image="x"),))
    assert diff(old, new) == (
        Difference("resources.nodes", "1", "3"),
        Difference("containers.0.image", "registry/train:1", "x"),
        Difference("containers.0.cpu", "4", ""),
        Difference("containers.0.memory", "8Gi", ""),
        Difference("labels.a", "b", ""),
    )
