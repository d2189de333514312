"""deploy/rbac grants what the platform uses and nothing else: read off the API server's own audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import yaml

from apps.clusters import services as clusters
from apps.clusters.domain.checklist import missing_rights
from apps.clusters.domain.checklist_rows import from_wire
from apps.clusters.domain.rights import NEEDED_RIGHTS, Right
from apps.clusters.models import Cluster, Node
from apps.tasks.domain.spec import Port
from apps.tasks.domain.states import State
from apps.tasks.models import Task
from apps.tasks.services.changes import edit_task, scale_task
from apps.tasks.services.lifecycle import delete_task, pause_task, resume_task
from devkube.real.control_plane import ControlPlane
from devkube.real.simulated_nodes import SimulatedNodes
from devkube.real.tools import Toolbox
from tests.support.kubernetes import until
from tests.support.site import ROLES, Site, a_job, a_service, account_token, site_on
from tests.support.world import World

OURS = "system:serviceaccount:platform-system:platform"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/platform"
POLICY = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    (folder / "policy.yaml").write_text(yaml.safe_dump(POLICY))
    return folder / "audit.log"


@pytest.fixture(scope="module")
def watched_plane(tools: Toolbox, audit: Path) -> Iterator[ControlPlane]:
    words = [f"--audit-policy-file={audit.with_name('policy.yaml')}", f"--audit-log-path={audit}"]
    with (
        ControlPlane("audited", toolbox=tools, extra={"kube-apiserver": words}) as running,
        SimulatedNodes(running) as nodes,
    ):
        nodes.add("gpu-0", cards=8, mark="rtx-4090", cpu=176, memory_gib=860)
        yield running


@pytest.fixture
def kube(watched_plane: ControlPlane) -> Iterator[httpx.Client]:
    with watched_plane.client() as client:
        yield client


def used(audit: Path) -> set[Right]:
    """What the platform's account asked for, reviews of its own rights aside."""
    events = [json.loads(line) for line in audit.read_text().splitlines()]
    return {
        Right(event["verb"], event["objectRef"].get("apiGroup", ""), event["objectRef"]["resource"])
        for event in events
        if event["user"]["username"] == OURS and "objectRef" in event
        if event["objectRef"]["resource"] != "selfsubjectaccessreviews"
    }


def whole_life_of_a_job(site: Site) -> None:
    task = site.running(a_job())
    pause_task(task, by=site.world.alice, now=site.now)
    site.reaches(task, State.PAUSED)
    resume_task(site.fresh(task), by=site.world.alice, now=site.now)
    site.reaches(task, State.RUNNING)
    delete_task(site.fresh(task), by=site.world.alice, now=site.now)
    site.until(lambda: not site.objects("apis/batch/v1/jobs", task), "the Job is gone")


def whole_life_of_a_deployment(site: Site) -> None:
    spec = a_service()
    (container,) = spec.containers
    exposed = replace(spec, containers=(replace(container, ports=(Port(8080, "http"),)),))
    task = site.running(exposed)
    scale_task(task, 2, by=site.world.alice, now=site.now)
    site.until(lambda: site.fresh(task).nodes_ready == 2, "two serve")
    other = replace(container, image="busybox:1.37", ports=(Port(9090, "http"),))
    wanted = replace(exposed, containers=(other,), resources=replace(exposed.resources, nodes=2))
    edit_task(site.fresh(task), wanted, expected_version=None, by=site.world.alice, now=site.now)
    site.until(lambda: _settled(site, task), "the change is rolled out")
    delete_task(site.fresh(task), by=site.world.alice, now=site.now)
    site.until(lambda: not site.objects("api/v1/services", task), "the Service is gone")


def _settled(site: Site, task: Task) -> bool:
    present = site.fresh(task)
    ports = [port["port"] for service in site.objects("api/v1/services", task) for port in service["spec"]["ports"]]
    return (present.state, present.revision, ports) == (State.RUNNING, 2, [9090])


@pytest.mark.django_db(transaction=True)
def test_every_granted_right_is_used_and_every_used_one_granted(
    world: World, watched_plane: ControlPlane, kube: httpx.Client, audit: Path
) -> None:
    with site_on(watched_plane, world, kube, token=account_token(kube)) as site:
        whole_life_of_a_job(site)
        whole_life_of_a_deployment(site)
        clusters.assign_pool(list(Node.objects.all()), world.a_pool("spare"), by=world.ada, now=site.now)
        clusters.label_nodes(Cluster.objects.get())
        site.patch("/api/v1/nodes/gpu-0", {"metadata": {"labels": {"platform/pool": "public"}}})
    granted = set(NEEDED_RIGHTS)
    assert used(audit) ^ granted == set()


@pytest.mark.django_db(transaction=True)
def test_without_any_one_right_the_check_list_names_it(
    world: World, watched_plane: ControlPlane, kube: httpx.Client
) -> None:
    token = account_token(kube)
    whole = next(body for body in yaml.safe_load_all(ROLES.read_text()) if body["kind"] == "ClusterRole")
    with site_on(watched_plane, world, kube, token=token) as site:
        named = {right: _told_without(right, whole, site) for right in NEEDED_RIGHTS}
    kube.put(ROLE, json=whole).raise_for_status()
    assert named == {right: [str(right)] for right in NEEDED_RIGHTS}


def _told_without(right: Right, whole: dict[str, list[dict[str, list[str]]]], site: Site) -> list[str]:
    """The rights that the cluster's check list misses once this one is taken away."""
    rules = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb != right.verb]}
        if (right.group in rule["apiGroups"] and right.resource in rule["resources"])
        else rule
        for rule in whole["rules"]
    ]
    # Kubernetes takes no rule without a verb.
    left = [rule for rule in rules if rule["verbs"]]
    site.kube.put(ROLE, json={**whole, "rules": left}).raise_for_status()

    def told() -> list[str]:
        clusters.check(site.cluster, now=site.now, full=True)
        return missing_rights(from_wire(Cluster.objects.get().checks))

    return until(lambda: said if (said := told()) == [str(right)] else [], 20)
