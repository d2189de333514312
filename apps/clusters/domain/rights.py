"""What the platform's account must be allowed to do on a cluster, and why: the one source of deploy/rbac/platform.yaml.

A call that the gateway makes and that is not here fails on a cluster that grants just this; a right that is here and
that nothing needs is one too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from apps.kernel.text import Said
from apps.kernel.text import say as _


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource, in every namespace."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


@dataclass(frozen=True, slots=True)
class Need:
    """One rule of the ClusterRole and what needs it."""

    group: str
    resource: str
    verbs: tuple[str, ...]
    why: Said

    def rights(self) -> Iterator[Right]:
        return (Right(verb, self.group, self.resource) for verb in self.verbs)


NEEDED = (
    Need("", "namespaces", ("get", "create"), _("tasks of each project and person live in a namespace of their own")),
    Need("", "nodes", ("list", "watch", "patch"), _("free capacity is read off the nodes, and pools are node labels")),
    Need("", "pods", ("list", "watch"), _("a task's state is told by its pods")),
    Need("", "events", ("list", "watch"), _("why a pod does not start is told by its events")),
    Need(
        "",
        "services",
        ("get", "list", "create", "patch", "delete"),
        _("a Deployment's ports are reached through a Service"),
    ),
    Need(
        "apps",
        "deployments",
        ("get", "list", "watch", "create", "update", "patch", "delete"),
        _("Deployments are made, rolled out, scaled, paused and removed"),
    ),
    Need(
        "batch",
        "jobs",
        ("get", "list", "watch", "create", "patch", "delete"),
        _("Jobs are made, paused, resumed and removed"),
    ),
    Need(
        "scheduling.k8s.io",
        "priorityclasses",
        ("get", "list", "create"),
        _("the classes of the three priorities are made where they are missing"),
    ),
    Need("storage.k8s.io", "storageclasses", ("list",), _("the check list tells which class new volumes get")),
)
NEEDED_RIGHTS = tuple(right for need in NEEDED for right in need.rights())


def why(group: str, resource: str) -> Said | None:
    """What the platform does with this resource; None for one that it does not touch."""
    return next((need.why for need in NEEDED if (need.group, need.resource) == (group, resource)), None)
