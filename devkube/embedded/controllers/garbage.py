"""Removes what lost its owner; lets an owner go when its children are gone (foreground) or set free (orphan)."""

from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context, Queue
from devkube.embedded.objects import Obj, deleting, finalizers_of, meta, name_of, namespace_of, uid_of
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.resources import Resource
from devkube.embedded.store import Change, Listener

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


class GarbageCollector:
    """Works on uids: of owners that change, and of children whose owner may be missing."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[tuple[str, str, str]] = Queue("garbage", self.sync)
        self._resources = {resource.key: resource for resource in r.STORED}
        for resource in r.STORED:
            context.store.listen(resource, self._listener(resource))
            for entry in context.store.entries(resource):
                self._look(resource, entry.obj)

    def _listener(self, resource: Resource) -> Listener:
        def listen(change: Change) -> None:
            obj = change.entry.obj
            if change.kind == "DELETED":
                for kind, entry in self.context.owned.children(uid_of(obj)):
                    self._add(kind, entry.obj)
                for owner in meta(obj).get("ownerReferences") or []:
                    self._add_owner(namespace_of(obj), owner)
            else:
                self._look(resource, obj)

        return listen

    def _look(self, resource: Resource, obj: Obj) -> None:
        about = meta(obj)
        if deleting(obj) and (FOREGROUND in finalizers_of(obj) or ORPHAN in finalizers_of(obj)):
            self._add(resource, obj)
        uids = self.context.owned.uids
        if any(owner["uid"] not in uids for owner in about.get("ownerReferences") or ()):
            self._add(resource, obj)

    def _add(self, resource: Resource, obj: Obj) -> None:
        self.queue.add((resource.key, namespace_of(obj), name_of(obj)))

    def _add_owner(self, namespace: str, owner: Obj) -> None:
        resource = r.BY_KIND.get((owner["apiVersion"], owner["kind"]))
        if resource is not None and not resource.virtual:
            self.queue.add((resource.key, namespace if resource.namespaced else "", owner["name"]))

    def sync(self, key: tuple[str, str, str]) -> None:
        """Decide about one object."""
        resource = self._resources[key[0]]
        entry = self.context.store.get(resource, key[1], key[2])
        if entry is None:
            return
        obj = entry.obj
        if deleting(obj) and ORPHAN in finalizers_of(obj):
            self._set_free(resource, obj)
        elif deleting(obj) and FOREGROUND in finalizers_of(obj):
            self._clear(resource, obj)
        else:
            self._check_owners(resource, obj)

    def _set_free(self, resource: Resource, obj: Obj) -> None:
        uid = uid_of(obj)
        for kind, child in self.context.owned.children(uid):
            self._drop_owners(kind, child.obj, {uid})
        self._drop_finalizer(resource, obj, ORPHAN)

    def _clear(self, resource: Resource, obj: Obj) -> None:
        children = self.context.owned.children(uid_of(obj))
        blocking = 0
        for kind, child in children:
            owners = meta(child.obj)["ownerReferences"]
            if any(each["uid"] != uid_of(obj) and self._lives(each) for each in owners):
                self._drop_owners(kind, child.obj, {uid_of(obj)})
                continue
            blocking += any(each["uid"] == uid_of(obj) and each.get("blockOwnerDeletion") for each in owners)
            if not deleting(child.obj):
                has_own = bool(self.context.owned.children(uid_of(child.obj)))
                policy = "Foreground" if has_own else "Background"
                self.context.registry.delete(kind, child, DeleteOptions(policy=policy))
        if not blocking or not self.context.owned.children(uid_of(obj)):
            self._drop_finalizer(resource, obj, FOREGROUND)

    def _lives(self, owner: Obj) -> bool:
        return owner["uid"] in self.context.owned.uids

    def _check_owners(self, resource: Resource, obj: Obj) -> None:
        owners = meta(obj).get("ownerReferences") or []
        gone = {each["uid"] for each in owners if not self._lives(each)}
        if not gone or deleting(obj):
            return
        if len(gone) < len(owners):
            self._drop_owners(resource, obj, gone)
            return
        entry = self.context.store.get(resource, namespace_of(obj), name_of(obj))
        if entry is not None:
            policy = "Orphan" if ORPHAN in finalizers_of(obj) else "Background"
            self.context.registry.delete(resource, entry, DeleteOptions(policy=policy))

    def _drop_owners(self, resource: Resource, obj: Obj, uids: set[str]) -> None:
        def change(new: Obj) -> None:
            meta(new)["ownerReferences"] = [
                each for each in meta(new).get("ownerReferences") or [] if each["uid"] not in uids
            ]

        self.context.registry.mutate(resource, obj, change)

    def _drop_finalizer(self, resource: Resource, obj: Obj, finalizer: str) -> None:
        def change(new: Obj) -> None:
            meta(new)["finalizers"] = [each for each in finalizers_of(new) if each != finalizer]

        self.context.registry.mutate(resource, obj, change)
