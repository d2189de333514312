"""What to do so that a cluster agrees with what is wanted: a plan from two pictures, safe to run twice.

Objects are found by their labels and removed by uid. A step that already happened is not planned again; a crash between
two steps costs nothing but the next plan. The caller plans nothing for a cluster that does not answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.clusters.gateway.port import Manifest, ObjectRef, Resource
from apps.kernel.text import say as _
from apps.tasks.domain.naming import (
    ANNOTATION_RESTARTS,
    ANNOTATION_REVISION,
    ANNOTATION_SHAPE,
    LABEL_ATTEMPT,
    LABEL_TASK,
    OWN_PREFIX,
)
from apps.tasks.domain.states import Intent


@dataclass(frozen=True, slots=True)
class Wanted:
    """What shall exist of one attempt. ``manifests`` are rendered for the intent; ``remove`` takes everything away
    whatever the intent (a deleted task, an ended attempt past its retention, an attempt taken back)."""

    intent: Intent
    namespace: str
    task_id: str
    attempt: int
    manifests: tuple[Manifest, ...] = ()
    priority_classes: tuple[Manifest, ...] = ()
    remove: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands there: every object with the attempt's labels or one of the wanted names; the classes by name."""

    objects: Mapping[ObjectRef, Manifest] = field(default_factory=dict)
    namespace: Manifest | None = None
    priority_classes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EnsureNamespace:
    name: str


@dataclass(frozen=True, slots=True)
class EnsurePriorityClass:
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Create:
    resource: Resource
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Replace:
    """``manifest`` carries the resourceVersion it was planned from, so that a lost race is a Conflict, not a loss."""

    ref: ObjectRef
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Merge:
    ref: ObjectRef
    patch: Manifest


@dataclass(frozen=True, slots=True)
class Delete:
    ref: ObjectRef
    uid: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Somebody else's object has the name, or the namespace is going: nothing can be done but wait or give up (F08)."""

    ref: ObjectRef
    text: str


Step = EnsureNamespace | EnsurePriorityClass | Create | Replace | Merge | Delete | Blocked

# Replaced whole when its shape changes; the pods roll. Jobs never change but for the switches below.
_REPLACED = frozenset({Resource.DEPLOYMENT})
_PATCHED = frozenset({Resource.SERVICE})
_SWITCHES = (("suspend", False), ("replicas", 1))


def _inner(value: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    for name in path:
        found = value.get(name)
        value = found if isinstance(found, Mapping) else {}
    return value


def _annotation(manifest: Manifest, name: str) -> str:
    return str(_inner(manifest, "metadata", "annotations").get(name, ""))


def _ours(manifest: Manifest, wanted: Wanted) -> bool:
    labels = _inner(manifest, "metadata", "labels")
    return labels.get(LABEL_TASK) == wanted.task_id and labels.get(LABEL_ATTEMPT) == str(wanted.attempt)


def _leaving(manifest: Manifest | None) -> bool:
    return manifest is not None and _inner(manifest, "metadata").get("deletionTimestamp") is not None


def resource_of(manifest: Manifest) -> Resource:
    """The resource of a manifest from its apiVersion and kind; raises ValueError for one the platform never touches."""
    plural = f"{str(manifest['kind']).lower()}s"
    return Resource(f"{manifest['apiVersion']}/{plural.replace('sss', 'sses')}")


def ref_of(manifest: Manifest) -> ObjectRef:
    metadata = _inner(manifest, "metadata")
    return ObjectRef(resource_of(manifest), str(metadata.get("name", "")), str(metadata.get("namespace", "")))


def plan(wanted: Wanted, seen: Seen) -> tuple[Step, ...]:
    """The steps, in order; empty when the cluster agrees or when what remains only needs time."""
    if wanted.remove or wanted.intent is Intent.STOP:
        return _removals(wanted, seen, keep=frozenset())
    steps: list[Step] = []
    missing: list[Step] = []
    for manifest in wanted.manifests:
        ref = ref_of(manifest)
        present = seen.objects.get(ref)
        # A paused attempt that never reached the cluster needs nothing there until it is resumed.
        if present is None and wanted.intent is Intent.RUN:
            missing.append(Create(ref.resource, manifest))
        elif present is not None:
            steps.extend(_adjustments(ref, manifest, present, wanted))
    removals = _removals(wanted, seen, keep=frozenset(map(ref_of, wanted.manifests)))
    return (*_with_ground(missing, wanted, seen), *steps, *removals)


def _with_ground(missing: list[Step], wanted: Wanted, seen: Seen) -> list[Step]:
    """What new objects stand on comes before them: the namespace, the priority classes."""
    if not missing:
        return []
    if _leaving(seen.namespace):
        ref = ObjectRef(Resource.NAMESPACE, wanted.namespace)
        return [Blocked(ref, _("the namespace %(name)s is being removed", name=wanted.namespace))]
    ground: list[Step] = [EnsureNamespace(wanted.namespace)] if seen.namespace is None else []
    classes = [
        EnsurePriorityClass(manifest)
        for manifest in wanted.priority_classes
        if _inner(manifest, "metadata").get("name") not in seen.priority_classes
    ]
    return [*ground, *classes, *missing]


def _adjustments(ref: ObjectRef, manifest: Manifest, present: Manifest, wanted: Wanted) -> list[Step]:
    if not _ours(present, wanted):
        return [Blocked(ref, _("another object has the name %(name)s", name=ref.name))]
    if _leaving(present):
        return []
    if ref.resource in _REPLACED and _rolls(manifest, present):
        return [Replace(ref, _replacement(manifest, present))]
    patch = _switch_patch(manifest, present)
    if ref.resource in _PATCHED and _annotation(manifest, ANNOTATION_SHAPE) != _annotation(present, ANNOTATION_SHAPE):
        patch = {"spec": dict(_inner(manifest, "spec"))}
    marks = _marks(manifest)
    if marks.items() - _inner(present, "metadata", "annotations").items():
        patch = {"metadata": {"annotations": marks}, **patch}
    return [Merge(ref, patch)] if patch else []


def _rolls(manifest: Manifest, present: Manifest) -> bool:
    """New pods are wanted: another revision of another shape, or one more restart. Never for scale alone (F30), and
    never because a profile or this program changed under a revision that stands."""
    if _annotation(manifest, ANNOTATION_RESTARTS) != _annotation(present, ANNOTATION_RESTARTS):
        return True
    return _annotation(manifest, ANNOTATION_REVISION) != _annotation(present, ANNOTATION_REVISION) and _annotation(
        manifest, ANNOTATION_SHAPE
    ) != _annotation(present, ANNOTATION_SHAPE)


def _marks(manifest: Manifest) -> dict[str, str]:
    annotations = _inner(manifest, "metadata", "annotations")
    return {name: value for name, value in annotations.items() if name.startswith(OWN_PREFIX)}


def _switch_patch(manifest: Manifest, present: Manifest) -> dict[str, Any]:
    spec, standing = _inner(manifest, "spec"), _inner(present, "spec")
    turned = {
        name: spec[name] for name, default in _SWITCHES if name in spec and standing.get(name, default) != spec[name]
    }
    return {"spec": turned} if turned else {}


def _replacement(manifest: Manifest, present: Manifest) -> Manifest:
    """The wanted manifest at the seen version; annotations of controllers on the object stay."""
    metadata = dict(_inner(manifest, "metadata"))
    metadata["annotations"] = {**_inner(present, "metadata", "annotations"), **_inner(metadata, "annotations")}
    if version := _inner(present, "metadata").get("resourceVersion"):
        metadata["resourceVersion"] = version
    return {**manifest, "metadata": metadata}


def _removals(wanted: Wanted, seen: Seen, *, keep: frozenset[ObjectRef]) -> tuple[Step, ...]:
    """Everything of this attempt that is not kept, by uid, so that a namesake is never taken for it."""
    doomed = [
        (ref, manifest)
        for ref, manifest in seen.objects.items()
        if ref not in keep and ref.resource is not Resource.POD and _ours(manifest, wanted) and not _leaving(manifest)
    ]
    doomed.sort(key=lambda entry: (entry[0].resource, entry[0].namespace, entry[0].name))
    return tuple(Delete(ref, str(_inner(manifest, "metadata").get("uid", ""))) for ref, manifest in doomed)
