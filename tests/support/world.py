"""The cast: one project, everyone who may or may not do something with it, and builders that name only what matters."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from apps.accounts.models import User
from apps.clusters.models import AcceleratorType, Cluster, Node, Pool, PoolKind
from apps.organisations.domain.roles import Role
from apps.organisations.models import Department, Membership, Project
from apps.quotas.models import Quota
from apps.tasks.domain.spec import ContainerSpec, KindName, ResourceRequest, TaskSpec

PASSWORD = "correct-horse-battery"


class World:
    """People: ``olga`` owns the project, ``alice`` is a member, ``victor`` a viewer, ``charlie`` a stranger with a
    project of his own, ``ada`` the administrator, ``otto`` the auditor."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.olga, self.alice, self.victor, self.charlie, self.ada, self.otto = (
            User.objects.create_user(username=name, password=PASSWORD)
            for name in ("olga", "alice", "victor", "charlie", "ada", "otto")
        )
        User.objects.filter(pk=self.ada.pk).update(is_superuser=True, is_staff=True)
        User.objects.filter(pk=self.otto.pk).update(is_auditor=True)
        self.ada.refresh_from_db()
        self.otto.refresh_from_db()
        self.department = Department.objects.create(slug="map", name="Map")
        self.project = self.a_project("map-team", owner=self.olga)
        self.foreign_project = self.a_project("sim-team", owner=self.charlie)
        for person, role in ((self.alice, Role.MEMBER), (self.victor, Role.VIEWER)):
            Membership.objects.create(project=self.project, user=person, role=role)

    def a_project(self, slug: str, *, owner: User) -> Project:
        project = Project.objects.create(slug=slug, name=slug, department=self.department, created_at=self.now)
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
        return project

    def a_mark(self, mark: str = "rtx-4090", **facts: Any) -> AcceleratorType:
        """20 cores and 101 GiB a card, 8 cards a node, unless told otherwise."""
        values = {
            "label": mark,
            "node_selector": {"platform/mark": mark},
            "cards_per_node": 8,
            "cpu_per_card": 20_000,
            "memory_per_card": 103_424,
        }
        return AcceleratorType.objects.create(mark=mark, **(values | facts))

    def a_pool(self, name: str = "public", *, project: Project | None = None, lend_idle: bool = False) -> Pool:
        kind = PoolKind.PROJECT if project else PoolKind.PUBLIC
        return Pool.objects.create(name=name, kind=kind, project=project, lend_idle=lend_idle)

    def a_cluster(self, name: str = "beijing", **facts: Any) -> Cluster:
        values = {"server": "http://127.0.0.1:1", "created_at": self.now, "last_contact_at": self.now}
        return Cluster.objects.create(name=name, **(values | facts))

    def a_node(
        self, cluster: Cluster, name: str, *, pool: Pool | None, mark: AcceleratorType | None = None, **facts: Any
    ) -> Node:
        """A ready node, whole: as many cards, cores and MiB as its mark says; 64 cores and 256 GiB without one."""
        cards = mark.cards_per_node if mark else 0
        values: dict[str, Any] = {
            "cards": cards,
            "cards_capacity": cards,
            "cpu": mark.cpu_per_card * cards if mark else 64_000,
            "memory": mark.memory_per_card * cards if mark else 262_144,
            "ready": True,
            "seen_at": self.now,
        }
        return Node.objects.create(cluster=cluster, name=name, pool=pool, mark=mark, **(values | facts))

    def a_quota(self, resource: str, limit: int, *, project: Project | None = None, user: User | None = None) -> Quota:
        return Quota.objects.create(project=project, user=user, resource=resource, limit=limit)

    def a_plant(self, *, cards_of: int = 2, quota: int = 16) -> Cluster:
        """One cluster ``beijing``: ``cards_of`` 4090 nodes and a CPU node, all public, and quota for the project."""
        self.mark, self.pool, self.cluster = mark, pool, cluster = self.a_mark(), self.a_pool(), self.a_cluster()
        for number in range(cards_of):
            self.a_node(cluster, f"gpu-{number}", pool=pool, mark=mark)
        self.a_node(cluster, "cpu-0", pool=pool)
        self.a_quota(f"cards:{mark.mark}", quota, project=self.project)
        self.a_quota("cpu", 64_000, project=self.project)
        self.a_quota("memory", 262_144, project=self.project)
        return cluster


def a_spec(name: str = "train-a", **changes: Any) -> TaskSpec:
    """A one-card Job of the project on a 4090, one container, unless told otherwise."""
    values: dict[str, Any] = {
        "kind": KindName.JOB,
        "display_name": name,
        "project": "map-team",
        "containers": (a_container(),),
        "resources": ResourceRequest(mark="rtx-4090", cards_per_node=1, nodes=1),
    }
    return TaskSpec(**(values | changes))


def a_container(name: str = "main", **changes: Any) -> ContainerSpec:
    values: dict[str, Any] = {"name": name, "image": "busybox:1.36", "command": ("sh", "-c", "echo hello")}
    return ContainerSpec(**(values | changes))
