"""Making a cluster agree: plans converge, may run twice, and survive being cut off anywhere (architecture.md §6)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.clusters.gateway.port import ObjectRef, Resource
from apps.tasks.domain.reconcile import (
    Blocked,
    Create,
    Delete,
    EnsureNamespace,
    EnsurePriorityClass,
    Merge,
    Replace,
    Seen,
    Step,
    Wanted,
    plan,
    ref_of,
    resource_of,
)
from apps.tasks.domain.spec import KindName, Port, ResourceRequest, TaskSpec
from apps.tasks.domain.states import Intent
from apps.tasks.kinds.registry import KINDS
from tests.support.small_world import SmallWorld
from tests.support.specs import a_cpu_container, a_spec, given_for

LOW = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "platform-low"}}


def wants(spec: TaskSpec, intent: Intent = Intent.RUN, *, remove: bool = False, **changes: Any) -> Wanted:
    given_input = given_for(spec, paused=intent is Intent.PAUSE, **changes)
    return Wanted(
        intent=intent,
        namespace=given_input.namespace,
        task_id=given_input.task_id,
        attempt=given_input.attempt,
        manifests=KINDS[spec.kind].manifests(given_input),
        priority_classes=(LOW,),
        remove=remove,
    )


def a_web(image: str = "web:1", *, nodes: int = 2, ports: tuple[int, ...] = (80,)) -> TaskSpec:
    container = a_cpu_container("web", image=image, ports=tuple(Port(port) for port in ports))
    return a_spec(KindName.DEPLOYMENT, containers=(container,), resources=ResourceRequest(nodes=nodes))


def a_world(wanted: Wanted) -> SmallWorld:
    world = SmallWorld()
    world.apply(plan(wanted, world.seen()))
    return world


def ref(resource: Resource, name: str = "train-a-abcdefgh") -> ObjectRef:
    return ObjectRef(resource, name, "platform-p-map-team")


def test_an_empty_cluster_gets_the_ground_first_and_then_the_objects() -> None:
    wanted = wants(a_web())
    assert plan(wanted, Seen()) == (
        EnsureNamespace("platform-p-map-team"),
        EnsurePriorityClass(LOW),
        Create(Resource.DEPLOYMENT, wanted.manifests[0]),
        Create(Resource.SERVICE, wanted.manifests[1]),
    )


def test_ground_that_is_there_is_not_laid_again() -> None:
    seen = Seen({}, {"metadata": {"name": "ns"}}, frozenset({"platform-low"}))
    assert [type(step) for step in plan(wants(a_spec()), seen)] == [Create]


@pytest.mark.parametrize("spec", [a_spec(), a_web()])
def test_an_attempt_paused_before_it_reached_the_cluster_creates_nothing(spec: TaskSpec) -> None:
    assert plan(wants(spec, Intent.PAUSE), Seen()) == ()


def test_a_job_is_paused_and_resumed_by_its_switch_alone() -> None:
    world = a_world(wants(a_spec()))
    assert plan(wants(a_spec(), Intent.PAUSE), world.seen()) == (Merge(ref(Resource.JOB), {"spec": {"suspend": True}}),)
    world.apply(plan(wants(a_spec(), Intent.PAUSE), world.seen()))
    assert plan(wants(a_spec()), world.seen()) == (Merge(ref(Resource.JOB), {"spec": {"suspend": False}}),)


def test_f30_a_scale_touches_replicas_and_the_platforms_marks_and_no_template() -> None:
    world = a_world(wants(a_web()))
    steps = plan(wants(a_web(nodes=5), revision=2, planned_nodes=("n1",)), world.seen())
    assert [step.patch["spec"] for step in steps if isinstance(step, Merge) and "spec" in step.patch] == [
        {"replicas": 5}
    ]
    world.apply(steps)
    assert world.template_changes == 0


def test_f30_a_changed_profile_or_plan_rolls_nothing_out() -> None:
    world = a_world(wants(a_web()))
    assert plan(wants(a_web(), planned_nodes=("n7",), pool="other"), world.seen()) == ()


def test_another_shape_is_replaced_at_the_seen_version_and_keeps_foreign_annotations() -> None:
    world = a_world(wants(a_web()))
    deployment = ref(Resource.DEPLOYMENT)
    world.objects[deployment]["metadata"]["annotations"]["deployment.kubernetes.io/revision"] = "1"
    (step, _service) = plan(wants(a_web("web:2"), revision=2), world.seen())
    assert isinstance(step, Replace)
    assert step.manifest["metadata"]["resourceVersion"] == world.objects[deployment]["metadata"]["resourceVersion"]
    assert step.manifest["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "1"
    world.apply_one(step)
    assert world.template_changes == 1


def test_an_object_recorded_without_a_version_is_replaced_unguarded() -> None:
    world = a_world(wants(a_web(ports=())))
    del world.objects[ref(Resource.DEPLOYMENT)]["metadata"]["resourceVersion"]
    (step,) = plan(wants(a_web("web:2", ports=()), revision=2), world.seen())
    assert isinstance(step, Replace)
    assert "resourceVersion" not in step.manifest["metadata"]


def test_a_restart_rolls_the_deployment_once() -> None:
    world = a_world(wants(a_web()))
    world.apply(plan(wants(a_web(), restart_count=1), world.seen()))
    assert (world.template_changes, plan(wants(a_web(), restart_count=1), world.seen())) == (1, ())


def test_a_service_follows_its_ports_and_goes_with_the_last() -> None:
    world = a_world(wants(a_web()))
    world.apply(plan(wants(a_web(ports=(80, 81)), revision=2), world.seen()))
    assert len(world.objects[ref(Resource.SERVICE)]["spec"]["ports"]) == 2
    uid = world.objects[ref(Resource.SERVICE)]["metadata"]["uid"]
    steps = plan(wants(a_web(ports=()), revision=3), world.seen())
    assert steps[1:] == (Delete(ref(Resource.SERVICE), uid),)


def test_stopping_deletes_everything_of_the_attempt_by_uid() -> None:
    world = a_world(wants(a_web()))
    steps = plan(wants(a_web(), Intent.STOP), world.seen())
    assert steps == tuple(
        Delete(found, manifest["metadata"]["uid"]) for found, manifest in sorted(world.objects.items(), key=str)
    )
    world.apply(steps)
    assert (world.objects, plan(wants(a_web(), Intent.STOP), world.seen())) == ({}, ())


def test_removal_takes_everything_whatever_the_intent() -> None:
    world = a_world(wants(a_spec()))
    assert [type(step) for step in plan(wants(a_spec(), remove=True), world.seen())] == [Delete]


def test_f08_what_is_being_removed_is_waited_for() -> None:
    world = a_world(wants(a_spec()))
    world.objects[ref(Resource.JOB)]["metadata"]["deletionTimestamp"] = "2026-12-01T12:00:00Z"
    for intent in Intent:
        assert plan(wants(a_spec(), intent), world.seen()) == ()


def test_f08_a_namespace_that_is_being_removed_blocks_with_a_reason() -> None:
    going = {"metadata": {"name": "platform-p-map-team", "deletionTimestamp": "2026-12-01T12:00:00Z"}}
    blocked = Blocked(
        ObjectRef(Resource.NAMESPACE, "platform-p-map-team"), "the namespace platform-p-map-team is being removed"
    )
    assert plan(wants(a_spec()), Seen({}, going)) == (blocked,)


@pytest.mark.parametrize("labels", [None, {}, {"platform/task-id": "another", "platform/attempt": "1"}])
def test_f27_another_object_of_the_name_is_neither_taken_over_nor_deleted(labels: Any) -> None:
    foreign = {"metadata": {"name": "train-a-abcdefgh", "uid": "x", "labels": labels}, "spec": {}}
    seen = Seen({ref(Resource.JOB): foreign})
    assert plan(wants(a_spec()), seen) == (Blocked(ref(Resource.JOB), "another object has the name train-a-abcdefgh"),)
    assert plan(wants(a_spec(), Intent.STOP), seen) == ()


def test_f08_objects_of_an_earlier_attempt_are_left_to_their_own_plan() -> None:
    world = a_world(wants(a_spec(), object_name="train-a-abcdefgh"))
    second = wants(a_spec(), attempt=2, object_name="train-a-abcdefgh-2")
    assert [type(step) for step in plan(second, world.seen())] == [Create]


def test_pods_go_with_their_workload_and_are_not_deleted_one_by_one() -> None:
    wanted = wants(a_spec(), Intent.STOP)
    labels = {"platform/task-id": wanted.task_id, "platform/attempt": "1"}
    assert plan(wanted, Seen({ref(Resource.POD, "p"): {"metadata": {"labels": labels}}})) == ()


def test_the_resource_of_a_manifest_follows_from_its_kind() -> None:
    assert resource_of(LOW) is Resource.PRIORITY_CLASS
    assert ref_of(LOW) == ObjectRef(Resource.PRIORITY_CLASS, "platform-low")
    with pytest.raises(ValueError, match="statefulsets"):
        resource_of({"apiVersion": "apps/v1", "kind": "StatefulSet"})


specs_of_web = st.builds(
    a_web,
    image=st.sampled_from(["web:1", "web:2"]),
    nodes=st.integers(0, 5),
    ports=st.sampled_from([(), (80,), (80, 81)]),
)
changes = st.lists(st.tuples(specs_of_web | st.just(a_spec()), st.sampled_from(Intent), st.integers(0, 2)), max_size=6)


def histories(found: list[tuple[TaskSpec, Intent, int]]) -> list[Wanted]:
    """Each change is a revision of its own; a Job never changes its shape."""
    return [
        wants(spec, intent, revision=number, restart_count=restarts)
        for number, (spec, intent, restarts) in enumerate(found, start=1)
    ]


@given(changes)
def test_a_plan_applied_leaves_nothing_to_plan(found: list[tuple[TaskSpec, Intent, int]]) -> None:
    world = SmallWorld()
    for wanted in histories(found):
        world.apply(plan(wanted, world.seen()))
        assert plan(wanted, world.seen()) == ()


@given(changes, st.data())
def test_a_plan_cut_off_anywhere_ends_in_the_same_world(
    found: list[tuple[TaskSpec, Intent, int]], data: st.DataObject
) -> None:
    whole, cut = SmallWorld(), SmallWorld()
    for wanted in histories(found):
        whole.apply(plan(wanted, whole.seen()))
        steps: tuple[Step, ...] = plan(wanted, cut.seen())
        cut.apply(steps[: data.draw(st.integers(0, len(steps)))])
        cut.apply(plan(wanted, cut.seen()))
    assert specs_in(whole) == specs_in(cut)


def specs_in(world: SmallWorld) -> dict[ObjectRef, Any]:
    return {found: manifest["spec"] for found, manifest in world.objects.items()}


@given(changes)
def test_steps_applied_twice_do_no_more_than_once(found: list[tuple[TaskSpec, Intent, int]]) -> None:
    once, twice = SmallWorld(), SmallWorld()
    for wanted in histories(found):
        once.apply(plan(wanted, once.seen()))
        steps = plan(wanted, twice.seen())
        twice.apply(steps)
        twice.apply(step for step in steps if not isinstance(step, Replace))
    assert specs_in(once) == specs_in(twice)


@given(changes)
def test_a_namesake_with_another_uid_survives_a_late_delete(found: list[tuple[TaskSpec, Intent, int]]) -> None:
    world = a_world(wants(a_spec()))
    late = plan(dataclasses.replace(wants(a_spec()), remove=True), world.seen())
    world.apply(late)
    for wanted in histories(found):
        world.apply(plan(wanted, world.seen()))
    before = dict(world.objects)
    world.apply(late)
    assert world.objects == before
