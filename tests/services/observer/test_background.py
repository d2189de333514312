"""The worker's entry points ask for each piece of work by a message of its own (F17)."""

from __future__ import annotations

from celery.signals import before_task_publish

from apps.clusters import background as clusters
from apps.tasks import background as tasks
from apps.tasks.domain.states import State
from tests.services.reconciler.plant import Plant


def test_each_cluster_and_each_due_attempt_is_one_message(plant: Plant) -> None:
    attempt = plant.admit(plant.submit())
    sent: list[tuple[str, list[int]]] = []

    def hear(sender: str, body: tuple[list[int], object, object], **_rest: object) -> None:
        sent.append((sender, list(body[0])))

    before_task_publish.connect(hear)
    clusters.check_all()
    tasks.reconcile_due()
    before_task_publish.disconnect(hear)
    assert sent == [("clusters.check", [plant.cluster.pk]), ("tasks.reconcile", [attempt.pk])]


def test_the_entry_points_do_the_work_themselves(plant: Plant) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    clusters.check(plant.cluster.pk)
    tasks.reconcile(attempt.pk)
    tasks.end_overdue()
    plant.observe()
    assert (plant.fresh_attempt(attempt).workload_uid != "", plant.fresh(task).state == State.QUEUED) == (True, False)
