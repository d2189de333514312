"""A cluster in a dictionary: enough API server to apply plans to, one step at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from apps.clusters.gateway.port import ObjectRef
from apps.tasks.domain.reconcile import (
    Create,
    Delete,
    EnsureNamespace,
    EnsurePriorityClass,
    Merge,
    Replace,
    Seen,
    Step,
    ref_of,
)


def merged(old: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, Mapping):
        return patch
    start = dict(old) if isinstance(old, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            start.pop(name, None)
        else:
            start[name] = merged(start.get(name), value)
    return start


class SmallWorld:
    """Applies steps; every object gets a uid and a version; ``template_changes`` counts rolled out pod templates."""

    def __init__(self) -> None:
        self.objects: dict[ObjectRef, dict[str, Any]] = {}
        self.namespaces: set[str] = set()
        self.classes: set[str] = set()
        self.template_changes = 0
        self._numbers = itertools.count(1)

    def seen(self) -> Seen:
        namespace = {"metadata": {"name": "ns"}} if self.namespaces else None
        return Seen(dict(self.objects), namespace, frozenset(self.classes))

    def apply(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.apply_one(step)

    def apply_one(self, step: Step) -> None:
        match step:
            case EnsureNamespace(name):
                self.namespaces.add(name)
            case EnsurePriorityClass(manifest):
                self.classes.add(manifest["metadata"]["name"])
            case Create(_resource, manifest):
                self.objects.setdefault(ref_of(manifest), self._stored(manifest, uid=f"uid-{next(self._numbers)}"))
            case Replace(ref, manifest):
                standing = self.objects[ref]
                assert manifest["metadata"]["resourceVersion"] == standing["metadata"]["resourceVersion"]
                self._put(ref, manifest)
            case Merge(ref, patch):
                self._put(ref, merged(self.objects[ref], patch))
            case Delete(ref, uid):
                if ref in self.objects and self.objects[ref]["metadata"]["uid"] == uid:
                    del self.objects[ref]
            case blocked:
                raise AssertionError(blocked)

    def _put(self, ref: ObjectRef, manifest: Mapping[str, Any]) -> None:
        standing = self.objects[ref]
        self.template_changes += standing["spec"].get("template") != manifest["spec"].get("template")
        self.objects[ref] = self._stored(manifest, uid=standing["metadata"]["uid"])

    def _stored(self, manifest: Mapping[str, Any], *, uid: str) -> dict[str, Any]:
        return merged(manifest, {"metadata": {"uid": uid, "resourceVersion": str(next(self._numbers))}})  # type: ignore[no-any-return] # an object merged with an object is one
