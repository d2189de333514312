"""What a user sees of real containers: run by containerd and kubelet, not simulated (domain.md §11)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer

from apps.clusters.models import Cluster
from apps.logs import selectors
from apps.tasks.domain.spec import KindName, ResourceRequest, TaskSpec
from apps.tasks.domain.states import State
from apps.tasks.models import Instance, Task
from apps.tasks.services.lifecycle import stop_task
from devkube.real.container_node import ContainerNode
from devkube.real.control_plane import ControlPlane
from tests.kubernetes.conftest import site_of
from tests.support.demo import ROOT
from tests.support.site import Site
from tests.support.world import World, a_container, a_spec

IMAGE = "busybox:1.35"
MARK = "container"


@pytest.fixture
def site(
    transactional_db: None,
    world: World,
    plane: ControlPlane,
    container_node: ContainerNode,
    http: httpx.Client,
    account: str,
) -> Iterator[Site]:
    """The platform with one machine of four small cards."""
    world.a_mark(MARK, cards_per_node=4, cpu_per_card=200, memory_per_card=96)
    world.a_quota(f"cards:{MARK}", 16, project=world.project)
    yield from site_of(plane, world, http, account)


def a_task(script: str, name: str = "train-a", *, kind: KindName = KindName.JOB, **changes: Any) -> TaskSpec:
    container = a_container(image=changes.pop("image", IMAGE), command=("sh", "-c", script))
    size = ResourceRequest(mark=MARK, cards_per_node=1, nodes=1)
    return a_spec(name, kind=kind, containers=(container,), resources=size, **changes)


def waits_with(site: Site, task: Task, reason: str) -> Task:
    site.until(lambda: site.fresh(task).reason == reason, f"the reason is {reason}")
    return site.fresh(task)


def test_the_exit_code_is_told(site: Site) -> None:
    failed = site.reaches(site.submit(a_task("exit 7")), State.FAILED)
    assert (failed.reason, failed.reason_numbers["exit_code"]) == ("ContainerFailed", 7)


def test_a_container_over_its_memory_is_told_as_out_of_memory(site: Site) -> None:
    failed = site.reaches(site.submit(a_task("tail /dev/zero")), State.FAILED)
    assert (failed.reason, failed.reason_numbers["exit_code"]) == ("OOMKilled", 137)


def test_an_image_that_cannot_be_pulled_is_told_while_it_waits(site: Site) -> None:
    waiting = waits_with(site, site.submit(a_task("true", image="registry.invalid/none:1")), "ImagePull")
    assert waiting.state == State.STARTING


def test_a_crash_loop_is_told_with_its_exit_code(site: Site) -> None:
    task = site.submit(a_task("exit 3", kind=KindName.DEPLOYMENT))
    looping = waits_with(site, task, "CrashLoopBackOff")
    assert looping.reason_numbers["exit_code"] == 3


def test_a_pod_that_lives_a_moment_is_seen_and_the_task_succeeds(site: Site) -> None:
    task = site.reaches(site.submit(a_task("true")), State.SUCCEEDED)
    instance = Instance.objects.get(attempt__task=task)
    assert (instance.state, instance.exit_code in (0, None)) == ("succeeded", True)


def test_a_stopped_task_may_say_goodbye_and_leaves_nothing(site: Site) -> None:
    task = site.running(a_task("trap 'echo bye; exit 0' TERM; while :; do sleep 0.1; done"))
    stop_task(task, by=site.world.alice, now=site.now)
    site.reaches(task, State.STOPPED)
    site.until(lambda: not site.pods(task), "no pod is left")


def test_a_missing_program_is_told_in_the_clusters_words(site: Site) -> None:
    container = a_container(image=IMAGE, command=("no-such-program",))
    size = ResourceRequest(mark=MARK, cards_per_node=1, nodes=1)
    failed = site.reaches(site.submit(a_spec(containers=(container,), resources=size)), State.FAILED)
    assert "no-such-program" in str(failed.reason_numbers.get("message"))


def test_shared_memory_and_cards_are_those_asked_for_and_the_lines_are_stored(
    site: Site, container_node: ContainerNode, live_server: LiveServer
) -> None:
    token = "shipper-token-of-this-test"
    Cluster.objects.filter(pk=site.cluster.pk).update(ingest_digest=hashlib.sha256(token.encode()).hexdigest())
    words = ["--server", site.plane.url, "--ca", str(site.plane.ca), "--data-dir", str(container_node.folder)]
    shipper = subprocess.Popen(
        [sys.executable, "-m", "devkube.shipper", *words, "--sink-url", f"{live_server.url}/ingest/vector"],
        cwd=ROOT,
        env={**os.environ, "DEVKUBE_TOKEN": site.plane.token, "DEVKUBE_SINK_TOKEN": token},
    )
    try:
        task = site.submit(a_task("df -m /dev/shm | tail -1 | awk '{print $2}'; echo two >&2", shm=32))
        site.reaches(task, State.SUCCEEDED)
        site.until(lambda: len(selectors.lines(task.pk).lines) == 2, "both lines are stored")
    finally:
        shipper.terminate()
        shipper.wait(20)
    assert sorted(line.text for line in selectors.lines(task.pk).lines) == ["32", "two"]
