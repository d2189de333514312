"""Empties a namespace that is being deleted, then removes it."""

from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context, Queue
from devkube.embedded.objects import deleting, name_of, namespace_of
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.store import Change


class NamespaceController:
    """Woken by a namespace that ends and by everything that leaves it."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[str] = Queue("namespace", self.sync)
        self._ending: set[str] = set()
        context.store.listen(r.NAMESPACES, self._namespace_changed)
        for resource in r.NAMESPACED:
            context.store.listen(resource, self._content_changed)
        for entry in context.store.entries(r.NAMESPACES):
            if deleting(entry.obj):
                self._ending.add(name_of(entry.obj))
                self.queue.add(name_of(entry.obj))

    def _namespace_changed(self, change: Change) -> None:
        name = name_of(change.entry.obj)
        if change.kind == "DELETED":
            self._ending.discard(name)
        elif deleting(change.entry.obj):
            self._ending.add(name)
            self.queue.add(name)

    def _content_changed(self, change: Change) -> None:
        if self._ending and namespace_of(change.entry.obj) in self._ending:
            self.queue.add(namespace_of(change.entry.obj))

    def sync(self, name: str) -> None:
        """Take one step."""
        space = self.context.store.get(r.NAMESPACES, "", name)
        if space is None or not deleting(space.obj):
            return
        left = 0
        with self.context.store.batch():
            for resource in r.NAMESPACED:
                for entry in self.context.store.entries(resource, name):
                    if not deleting(entry.obj):
                        self.context.registry.delete(resource, entry, DeleteOptions(policy="Background"))
                    left += self.context.store.get(resource, name, name_of(entry.obj)) is not None
            if not left and not space.obj["metadata"].get("finalizers"):
                self.context.store.remove(r.NAMESPACES, "", name)
