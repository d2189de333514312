"""The observer as it runs: threads, batches, leaders, an end within two seconds."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import connections

from apps.clusters.gateway.port import ObjectRef, Resource
from apps.clusters.models import Cluster
from apps.tasks.domain.states import State
from apps.tasks.loop import LOCK_CLASS, Observers
from apps.tasks.observer import ClusterObserver
from tests.services.reconciler.plant import Plant, plant_of
from tests.support.world import World

CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def plant(transactional_db: None, world: World) -> Iterator[Plant]:
    with plant_of(world) as made:
        yield made


@pytest.fixture
def observer(plant: Plant) -> Iterator[ClusterObserver]:
    watching = ClusterObserver(plant.cluster, now=lambda: plant.now)
    watching.start()
    yield watching
    watching.stop()
    # A watch in memory waits for the next change: give every one of them its end.
    plant.memory.go_dead()
    for thread in watching._threads:
        thread.join(5)


def until(condition: Callable[[], bool], seconds: float = 8) -> bool:
    """Whether it comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def test_a_job_is_followed_from_start_to_end(plant: Plant, observer: ClusterObserver) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    plant.reconcile(attempt)
    name = plant.pod(attempt)
    assert until(lambda: plant.fresh(task).state == State.RUNNING)
    plant.memory.finish(ObjectRef(Resource.POD, name, plant.fresh_attempt(attempt).namespace))
    plant.complete(attempt)
    assert until(lambda: plant.fresh(task).state == State.SUCCEEDED)


def test_f16_an_expired_watch_loses_nothing(plant: Plant, observer: ClusterObserver) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    plant.reconcile(attempt)
    assert until(lambda: plant.fresh_attempt(attempt).workload_uid != "")
    plant.memory.compact()
    plant.complete(attempt)
    assert until(lambda: plant.fresh(task).state == State.SUCCEEDED)


def test_f17_a_cluster_that_falls_silent_is_marked_and_followed_again_when_it_is_back(
    plant: Plant, observer: ClusterObserver
) -> None:
    plant.memory.go_dead()
    assert until(lambda: Cluster.objects.get(pk=plant.cluster.pk).unreachable_since is not None)
    plant.memory.revive()
    assert until(lambda: Cluster.objects.get(pk=plant.cluster.pk).unreachable_since is None)


def test_a_database_that_cuts_the_connection_loses_no_change(plant: Plant, observer: ClusterObserver) -> None:
    task = plant.submit()
    attempt = plant.admit(task)
    plant.reconcile(attempt)
    assert until(lambda: plant.fresh_attempt(attempt).workload_uid != "")
    _cut_other_sessions()
    plant.complete(attempt)
    assert until(lambda: plant.fresh(task).state == State.SUCCEEDED)


def test_who_loses_the_session_loses_the_lead_and_takes_it_again(plant: Plant) -> None:
    observers = Observers()
    observers.look()
    led = observers.led
    cutting = connections.create_connection("default")
    with cutting.cursor() as cursor:
        cursor.execute(CUT)
    cutting.close()
    observers.look()
    lost = observers.led

    def leads_again() -> bool:
        observers.look()
        return observers.led == led

    assert until(leads_again)
    plant.memory.go_dead()
    observers.close()
    assert (led, lost) == ({plant.cluster.pk}, set())


def test_changed_credentials_start_the_observer_anew(plant: Plant) -> None:
    observers = Observers()
    observers.look()
    first = observers._running[plant.cluster.pk]
    observers.look()
    same = observers._running[plant.cluster.pk]
    Cluster.objects.filter(pk=plant.cluster.pk).update(credentials_changed_at=plant.now)
    observers.look()
    plant.memory.go_dead()
    assert (same is first, observers._running[plant.cluster.pk] is first) == (True, False)
    observers.close()


def _cut_other_sessions() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(CUT)


def test_only_one_process_leads_a_cluster(plant: Plant) -> None:
    first = Observers()
    first.look()
    other = _session_of_another_process(plant.cluster.pk)
    first.close()
    plant.memory.go_dead()
    assert (first.led, other, until(lambda: _session_of_another_process(plant.cluster.pk))) == (set(), False, True)


def _session_of_another_process(cluster_pk: int) -> bool:
    """Whether somebody else could become the cluster's leader now."""
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK_CLASS, cluster_pk])
            return bool(cursor.fetchone()[0])
    finally:
        other.close()


def test_a_removed_cluster_is_observed_no_longer(plant: Plant) -> None:
    observers = Observers()
    observers.look()
    led = observers.led
    gone = plant.cluster.pk
    Cluster.objects.filter(pk=gone).delete()
    observers.look()
    plant.memory.go_dead()
    assert (led, observers.led) == ({gone}, set())
    observers.close()


def test_the_command_ends_within_seconds_of_sigterm(transactional_db: None) -> None:
    process = subprocess.Popen(
        [sys.executable, "manage.py", "runobserver"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "observer started\n", process.communicate()
    asked = time.monotonic()
    process.send_signal(signal.SIGTERM)
    # Two seconds on an idle machine; the tests of a whole team may share this one.
    assert (process.wait(20), time.monotonic() - asked < 8) == (0, True)
