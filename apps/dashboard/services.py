"""A first installation's people, projects, marks, pools, quotas and clusters: what `make demo` begins with.

Running it again changes nothing that is there already but the clusters' addresses and tokens.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts import services as accounts
from apps.accounts.models import User
from apps.clusters import services as clusters
from apps.clusters.models import AcceleratorType, Cluster, Pool, PoolKind
from apps.organisations.domain.roles import Role
from apps.organisations.models import Department, Membership, Project
from apps.quotas.models import Quota

DEPARTMENTS = {
    "production-line": "Production line",
    "road-test": "Road test",
    "map": "Map",
    "planning-and-control": "Planning and control",
    "simulation": "Simulation",
}
PROJECTS = {"map-team": ("Map team", "map"), "perception": ("Perception", "simulation")}
GIB = 1024
MARKS: dict[str, dict[str, Any]] = {
    "a100-80g": {
        "label": "NVIDIA A100 80 GB",
        "cards_per_node": 8,
        "cpu_per_card": 7_000,
        "memory_per_card": 118 * GIB,
        "price_per_card_hour": 12_000_000,
    },
    "rtx-4090": {
        "label": "NVIDIA GeForce RTX 4090",
        "cards_per_node": 8,
        "cpu_per_card": 20_000,
        "memory_per_card": 101 * GIB,
        "price_per_card_hour": 2_500_000,
    },
    "jetson-xavier": {
        "label": "Jetson Xavier",
        "resource_name": "platform/jetson",
        "is_device": True,
        "cards_per_node": 1,
        "cpu_per_card": 0,
        "memory_per_card": 0,
        "price_per_card_hour": 300_000,
    },
}
QUOTAS = {
    "cpu": 64_000,
    "memory": 256 * GIB,
    "cards:a100-80g": 4,
    "cards:rtx-4090": 8,
    "cards:jetson-xavier": 2,
}
PERSONAL = {"cpu": 8_000, "memory": 32 * GIB, "cards:rtx-4090": 2}
ROLES = ("admin", "engineer", "viewer")


@dataclass(frozen=True, slots=True)
class Login:
    """One seeded person; password and token in plain text exist only here and in the access file."""

    name: str
    role: str
    password: str
    token: str


@transaction.atomic
def seed(plant: Sequence[Mapping[str, str]], known: Sequence[Login], *, now: datetime) -> list[Login]:
    """Make what is missing and return the logins; ``plant`` has each cluster's name, server and tokens."""
    projects = _organisation(now)
    logins = [_person(role, known, now=now) for role in ROLES]
    admin, engineer, viewer = (User.objects.get(username=login.name) for login in logins)
    for project in projects:
        Membership.objects.get_or_create(project=project, user=engineer, defaults={"role": Role.OWNER})
    Membership.objects.get_or_create(project=projects[0], user=viewer, defaults={"role": Role.VIEWER})
    _resources(projects, engineer)
    for entry in plant:
        _cluster(entry, by=admin, now=now)
    return logins


def _organisation(now: datetime) -> list[Project]:
    for slug, name in DEPARTMENTS.items():
        Department.objects.get_or_create(slug=slug, defaults={"name": name})
    return [
        Project.objects.get_or_create(
            slug=slug,
            defaults={"name": name, "department": Department.objects.get(slug=department), "created_at": now},
        )[0]
        for slug, (name, department) in PROJECTS.items()
    ]


def _person(role: str, known: Sequence[Login], *, now: datetime) -> Login:
    user = User.objects.filter(username=role).first()
    present = next((login for login in known if login.role == role), None)
    if user is not None and present is not None:
        return present
    password = secrets.token_urlsafe(12)
    if user is None:
        user = User(username=role, is_superuser=role == "admin", is_staff=role == "admin")
    user.set_password(password)
    user.save()
    return Login(role, role, password, accounts.issue_full_token(user, name="demo", now=now))


def _resources(projects: Sequence[Project], engineer: User) -> None:
    for mark, facts in MARKS.items():
        selector = {"platform/mark": mark}
        AcceleratorType.objects.get_or_create(mark=mark, defaults={"node_selector": selector, **facts})
    Pool.objects.get_or_create(name="public", defaults={"kind": PoolKind.PUBLIC})
    own = {"kind": PoolKind.PROJECT, "project": projects[0], "lend_idle": True}
    Pool.objects.get_or_create(name=projects[0].slug, defaults=own)
    for project in projects:
        for resource, limit in QUOTAS.items():
            Quota.objects.get_or_create(project=project, resource=resource, defaults={"limit": limit})
    for resource, limit in PERSONAL.items():
        Quota.objects.get_or_create(user=engineer, resource=resource, defaults={"limit": limit})


def _cluster(entry: Mapping[str, str], *, by: User, now: datetime) -> None:
    """The embedded clusters change their port when theirs is taken, so the address is written on each start."""
    digest = hashlib.sha256(entry["ingest_token"].encode()).hexdigest()
    server, token, ca = entry["server"], entry["token"], entry.get("ca")
    cluster = Cluster.objects.filter(name=entry["name"]).first()
    if cluster is None:
        cluster = clusters.add_cluster(entry["name"], server=server, token=token, ca=ca, by=by, now=now)
    else:
        clusters.rotate_credentials(cluster, server=server, token=token, ca=ca, by=by, now=now)
    Cluster.objects.filter(pk=cluster.pk).update(ingest_digest=digest)
