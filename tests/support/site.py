"""The platform on a real control plane as its own processes run it: admission, reconciler, observer, in real time."""

from __future__ import annotations

import secrets
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
import yaml

from apps.clusters import services as clusters
from apps.clusters.models import Cluster, Node
from apps.kernel import clock
from apps.scheduling.loop import run_cycle
from apps.tasks import reconciler
from apps.tasks.domain.spec import KindName, ResourceRequest, TaskSpec
from apps.tasks.domain.states import State
from apps.tasks.models import Attempt, Instance, Task
from apps.tasks.observer import ClusterObserver
from apps.tasks.services import reconciliation
from apps.tasks.services.submission import submit_task
from devkube.real.control_plane import ControlPlane
from tests.support.demo import ROOT
from tests.support.kubernetes import until
from tests.support.world import World, a_container, a_spec


@dataclass(frozen=True)
class Ticking:
    """A clock that somebody else winds."""

    now: Callable[[], datetime]


Obj = dict[str, Any]
PATIENCE = 60.0
ROLES = ROOT / "deploy" / "rbac" / "platform.yaml"


@dataclass
class Site:
    """One installation with one cluster. ``kube`` is the cluster's own administrator, who is not the platform."""

    world: World
    cluster: Cluster
    plane: ControlPlane
    kube: httpx.Client
    ahead: timedelta = timedelta()

    def now_of_ours(self) -> datetime:
        """The platform's clock, which the cluster's may differ from."""
        return clock.now() + self.ahead

    @property
    def now(self) -> datetime:
        return self.now_of_ours()

    @property
    def namespace(self) -> str:
        """Where the project's objects are."""
        return f"{self.cluster.namespace_prefix}-p-{self.world.project.slug}"

    def submit(self, spec: TaskSpec) -> Task:
        return submit_task(spec, by=self.world.alice, now=self.now)

    def running(self, spec: TaskSpec) -> Task:
        """A task that was submitted, admitted and started."""
        task = self.submit(spec)
        self.reaches(task, State.RUNNING)
        return self.fresh(task)

    def fresh(self, task: Task) -> Task:
        return Task.objects.get(pk=task.pk)

    def attempt(self, task: Task) -> Attempt:
        return Attempt.objects.get(task=task, number=self.fresh(task).attempt)

    def tick(self) -> None:
        """What the workers do at every tick."""
        run_cycle(Ticking(self.now_of_ours))
        for attempt_pk in reconciliation.due(now=self.now):
            reconciler.reconcile(attempt_pk, now=self.now_of_ours)

    def until(self, condition: Callable[[], object], what: str = "it", seconds: float = PATIENCE) -> None:
        """Let the workers tick until the condition holds; fails naming ``what`` and every task's state."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"{what}: not in {seconds:.0f} s; {self.story()}"
            self.tick()
            time.sleep(0.1)

    def reaches(self, task: Task, state: State, seconds: float = PATIENCE) -> Task:
        """The task, once it stands in the state."""
        self.until(lambda: self.fresh(task).state == state, f"{task.display_name} is {state}", seconds)
        return self.fresh(task)

    def uids(self, task: Task) -> set[str]:
        """The pods that are there, as the platform recorded them."""
        found = Instance.objects.filter(attempt__task=task, gone_at=None)
        return set(found.values_list("uid", flat=True))

    def story(self) -> str:
        told = Task.objects.values_list("display_name", "state", "reason", "reason_numbers")
        return "; ".join(f"{name} {state} {reason} {numbers}" for name, state, reason, numbers in told)

    # -- the cluster as its administrator sees it ---------------------------------------------------------------------

    def objects(self, path: str, task: Task | None = None) -> list[Obj]:
        """Objects of the project's namespace by ``group path/plural``, such as ``apis/batch/v1/jobs``."""
        group, _, plural = path.rpartition("/")
        query = {"labelSelector": f"platform/task-id={task.pk}"} if task else {}
        answer = self.kube.get(f"/{group}/namespaces/{self.namespace}/{plural}", params=query).raise_for_status()
        found: list[Obj] = answer.json()["items"]
        return found

    def pods(self, task: Task) -> list[Obj]:
        return self.objects("api/v1/pods", task)

    def patch(self, path: str, body: Obj) -> Obj:
        headers = {"Content-Type": "application/merge-patch+json"}
        answer = self.kube.patch(path, json=body, headers=headers).raise_for_status()
        return dict(answer.json())


@contextmanager
def site_on(
    plane: ControlPlane,
    world: World,
    kube: httpx.Client,
    *,
    token: str = "",
    prefix: str = "",
    ahead: timedelta = timedelta(),
) -> Iterator[Site]:
    """The platform with this plane as its cluster ``beijing``, its observer at work; ``token`` is its account's."""
    mark, pool = world.a_mark(), world.a_pool()
    for resource, limit in ((f"cards:{mark.mark}", 64), ("cpu", 640_000), ("memory", 2_621_440)):
        world.a_quota(resource, limit, project=world.project)
    world.mark, world.pool = mark, pool
    cluster = clusters.add_cluster(
        "beijing",
        server=plane.url,
        token=token or plane.token,
        ca=plane.ca.read_text(),
        namespace_prefix=prefix or f"t{secrets.token_hex(3)}",
        by=world.ada,
        now=clock.now(),
    )
    assert clusters.check(cluster, now=clock.now()), Cluster.objects.get(pk=cluster.pk).last_error
    site = Site(world, cluster, plane, kube, ahead)
    observer = ClusterObserver(cluster, now=site.now_of_ours)
    observer.start()
    try:
        site.until(lambda: Node.objects.filter(pool=pool, ready=True).exists(), "the nodes are recorded")
        yield site
    finally:
        observer.stop()
        observer.join(5)


def account_token(kube: httpx.Client) -> str:
    """The token of the account that deploy/rbac/platform.yaml makes: what a company's administrator would apply."""
    for body in yaml.safe_load_all(ROLES.read_text()):
        group = "api/v1" if body["apiVersion"] == "v1" else f"apis/{body['apiVersion']}"
        space = body["metadata"].get("namespace")
        place = f"namespaces/{space}/" if space else ""
        kube.patch(
            f"/{group}/{place}{body['kind'].lower()}s/{body['metadata']['name']}",
            params={"fieldManager": "administrator", "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            content=yaml.safe_dump(body),
        ).raise_for_status()
    secret = "/api/v1/namespaces/platform-system/secrets/platform-token"
    data = until(lambda: kube.get(secret).json().get("data") or {})
    return b64decode(data["token"]).decode()


def a_job(name: str = "train-a", *, runs: str = "600s", cards: int = 1, **changes: Any) -> TaskSpec:
    """A Job whose simulated pods run that long and then succeed, unless their environment says otherwise."""
    return _spec(KindName.JOB, name, runs, cards, changes)


def a_service(name: str = "web", *, cards: int = 1, **changes: Any) -> TaskSpec:
    """A Deployment whose simulated pods run until they are stopped."""
    return _spec(KindName.DEPLOYMENT, name, "", cards, changes)


def _spec(kind: KindName, name: str, runs: str, cards: int, changes: dict[str, Any]) -> TaskSpec:
    env = {**({"DEVKUBE_RUNS_FOR": runs} if runs else {}), **changes.pop("env", {})}
    size = ResourceRequest(mark="rtx-4090", cards_per_node=cards, nodes=changes.pop("nodes", 1))
    container = a_container(env=env, image=changes.pop("image", "busybox:1.36"))
    return a_spec(name, kind=kind, containers=(container,), resources=size, **changes)
