"""The verbs: create, update, delete, as the API server performs them on one object.

Everything here is synchronous and runs in the server's one thread, so a verb is atomic.
"""

import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from devkube.embedded import admission, clock, errors
from devkube.embedded import resources as r
from devkube.embedded.objects import Obj, copy, deleting, finalizers_of, meta, name_of, namespace_of, spec, status
from devkube.embedded.rules import defaults, names
from devkube.embedded.store import Entry, Store
from devkube.embedded.strategies import Strategy, strategy_of

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """metav1.DeleteOptions as far as it decides anything."""

    grace: int | None = None
    policy: str = ""
    uid: str = ""
    resource_version: str = ""


@dataclass(slots=True)
class Registry:
    """The store with the rules in front of it; the HTTP handlers and the controllers both come through here."""

    store: Store

    def get(self, resource: r.Resource, namespace: str, name: str) -> Entry:
        """Return an object; raises ApiError 404."""
        entry = self.store.get(resource, namespace, name)
        if entry is None:
            raise errors.not_found(resource, name)
        return entry

    def create(self, resource: r.Resource, obj: Obj, *, dry_run: bool = False) -> Obj:
        """Make an object; raises ApiError 403, 404, 409, 422."""
        strategy = strategy_of(resource)
        about = meta(obj)
        if about.get("resourceVersion"):
            raise errors.bad_request("resourceVersion should not be set on objects to be created")
        for key in _SYSTEM_FIELDS:
            about.pop(key, None)
        if not about.get("name") and about.get("generateName"):
            about["name"] = about["generateName"][:58] + "".join(secrets.choice(_LETTERS) for _ in range(5))
        about |= {"uid": str(uuid.uuid4()), "creationTimestamp": clock.stamp()}
        if strategy.counts:
            about["generation"] = 1
        if resource.status and not strategy.status_on_create:
            obj.pop("status", None)
        strategy.default(obj)
        if resource is r.JOBS and about.get("name"):
            defaults.job_identity(obj)
        if resource.status:
            status(obj)
        admission.mutate(self.store, resource, obj)
        self._refuse(resource, obj, names.check_meta(obj, strategy.name) + strategy.check(obj))
        admission.validate(self.store, resource, obj)
        if self.store.get(resource, namespace_of(obj), name_of(obj)):
            raise errors.already_exists(resource, name_of(obj))
        return obj if dry_run else self.store.put(resource, obj).obj

    def update(
        self, resource: r.Resource, old: Entry, new: Obj, *, part: str = "", dry_run: bool = False
    ) -> tuple[Obj, bool]:
        """Replace an object (or its `part` "status"); tell whether anything changed. Raises ApiError 409, 422."""
        strategy = strategy_of(resource)
        self._check_version(resource, old, new)
        if part != "status":
            strategy.default(new)
            if strategy.carry:
                strategy.carry(new, old.obj)
        if resource.status:
            self._keep_other_half(old.obj, new, part)
        self._carry(strategy, old.obj, new, part)
        if part != "status":
            causes = names.check_meta_update(new, old.obj)
            check = strategy.check_update
            self._refuse(resource, new, causes + (check(new, old.obj) if check else strategy.check(new)))
        if dry_run:
            return new, False
        return self._commit(resource, new, old)

    def mutate(self, resource: r.Resource, obj: Obj, change: Callable[[Obj], None]) -> Obj | None:
        """Change the present version of `obj` without checks (for controllers); None when it is gone."""
        entry = self.store.get(resource, namespace_of(obj), name_of(obj))
        if entry is None or entry.obj["metadata"]["uid"] != obj["metadata"]["uid"]:
            return None
        new = copy(entry.obj)
        change(new)
        return self._commit(resource, new, entry)[0]

    def _check_version(self, resource: r.Resource, old: Entry, new: Obj) -> None:
        about = meta(new)
        given = about.get("resourceVersion", "")
        if not given and not resource.unconditional_update:
            cause = errors.bad_value("metadata.resourceVersion", 0, "must be specified for an update")
            raise errors.invalid(resource, name_of(old.obj), [cause])
        if given and given != str(old.rv):
            raise errors.conflict(resource, name_of(old.obj))
        uid = about.get("uid", "")
        if uid and uid != old.obj["metadata"]["uid"]:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.obj['metadata']['uid']}"
            raise errors.conflict(resource, name_of(old.obj), why)

    @staticmethod
    def _keep_other_half(old: Obj, new: Obj, part: str) -> None:
        if part == "status":
            fresh = new.get("status", {})
            kept = {**meta(new), **{key: meta(old).get(key) for key in ("labels", "ownerReferences")}}
            for key in [key for key in new if key not in ("status", "metadata", "kind", "apiVersion")]:
                del new[key]
            new |= {key: value for key, value in copy(old).items() if key not in ("status", "metadata")}
            new["metadata"] = {key: value for key, value in kept.items() if value}
            new["status"] = fresh
        else:
            new["status"] = copy(old).get("status", {})

    @staticmethod
    def _carry(strategy: Strategy, old: Obj, new: Obj, part: str) -> None:
        about = meta(new)
        for key in (*_SYSTEM_FIELDS, "name", "namespace", "generateName", "resourceVersion"):
            if key in old["metadata"]:
                about[key] = old["metadata"][key]
            else:
                about.pop(key, None)
        if not strategy.counts or part == "status":
            return
        changed = new.get("spec") != old.get("spec")
        if strategy.annotations_count:
            changed = changed or (about.get("annotations") or {}) != (old["metadata"].get("annotations") or {})
        if changed:
            about["generation"] = old["metadata"].get("generation", 0) + 1

    def _commit(self, resource: r.Resource, new: Obj, old: Entry) -> tuple[Obj, bool]:
        about = meta(new)
        for key in ("labels", "annotations", "finalizers", "ownerReferences"):
            if key in about and not about[key]:
                del about[key]
        if new == old.obj:
            return old.obj, False
        free = deleting(new) and not finalizers_of(new) and not about.get("deletionGracePeriodSeconds")
        if free and resource is not r.NAMESPACES:
            return self._remove(resource, new), True
        return self.store.put(resource, new).obj, True

    def _remove(self, resource: r.Resource, obj: Obj) -> Obj:
        entry = self.store.remove(resource, namespace_of(obj), name_of(obj))
        return entry.obj if entry else obj

    @staticmethod
    def _refuse(resource: r.Resource, obj: Obj, causes: list[errors.Cause]) -> None:
        if causes:
            raise errors.invalid(resource, str(meta(obj).get("name", "")), causes)

    def delete(
        self, resource: r.Resource, entry: Entry, options: DeleteOptions, *, dry_run: bool = False
    ) -> tuple[Obj, bool]:
        """Ask for an object's deletion; returns its last version and whether it is gone. Raises ApiError 409."""
        self._check_preconditions(resource, entry, options)
        obj = copy(entry.obj)
        strategy = strategy_of(resource)
        _set_policy(obj, strategy, options.policy)
        grace = _grace(obj, options.grace) if strategy.graceful else 0
        about = meta(obj)
        if resource is r.NAMESPACES:
            return self._terminate_namespace(entry, obj, dry_run=dry_run)
        if grace == 0 and not finalizers_of(obj):
            return (obj if dry_run else self._remove(resource, obj)), True
        if not deleting(obj):
            about["deletionTimestamp"] = clock.stamp(clock.later(grace))
            about["deletionGracePeriodSeconds"] = grace
            if about.get("generation"):
                about["generation"] += 1
        elif grace < about.get("deletionGracePeriodSeconds", 0):
            about["deletionTimestamp"] = clock.stamp(clock.later(grace))
            about["deletionGracePeriodSeconds"] = grace
        if dry_run:
            return obj, False
        return self._commit(resource, obj, entry)[0], False

    @staticmethod
    def _check_preconditions(resource: r.Resource, entry: Entry, options: DeleteOptions) -> None:
        have = entry.obj["metadata"]
        for label, asked, given in (
            ("UID", options.uid, have["uid"]),
            ("ResourceVersion", options.resource_version, have["resourceVersion"]),
        ):
            if asked and asked != given:
                why = f"the {label} in the precondition ({asked}) does not match the {label} in record ({given})."
                raise errors.conflict(
                    resource, name_of(entry.obj), why + " The object might have been deleted and then recreated"
                )

    def _terminate_namespace(self, entry: Entry, obj: Obj, *, dry_run: bool) -> tuple[Obj, bool]:
        if not deleting(obj):
            meta(obj)["deletionTimestamp"] = clock.stamp()
            status(obj)["phase"] = "Terminating"
        if dry_run:
            return obj, False
        return self._commit(r.NAMESPACES, obj, entry)[0], False


def _set_policy(obj: Obj, strategy: Strategy, policy: str) -> None:
    finalizers = list(finalizers_of(obj))
    own = [each for each in finalizers if each not in ("orphan", "foregroundDeletion")]
    if not policy and strategy.orphans and finalizers == own:
        policy = "Orphan"
    chosen = {"Orphan": ["orphan"], "Foreground": ["foregroundDeletion"], "Background": []}.get(policy)
    meta(obj)["finalizers"] = finalizers if chosen is None else [*own, *chosen]


def _grace(pod: Obj, asked: int | None) -> int:
    period = asked if asked is not None else int(spec(pod).get("terminationGracePeriodSeconds", 30))
    if not spec(pod).get("nodeName") or status(pod).get("phase") in ("Succeeded", "Failed"):
        return 0
    return period if period >= 0 else 1
