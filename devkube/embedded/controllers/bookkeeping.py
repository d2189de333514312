"""Status kept from what is there: quotas, disruption budgets, and claims that bind."""

from collections.abc import Callable

from devkube.embedded import disruption, quota
from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context, Queue, key_of
from devkube.embedded.objects import Obj, copy, deleting, finalizers_of, meta, namespace_of, pod_finished, spec, uid_of
from devkube.embedded.scheduler.volumes import claim_names, waits_for_pod
from devkube.embedded.store import Change, Key

SETTLE = 0.1
PROTECTED = "kubernetes.io/pvc-protection"


class QuotaController:
    """Writes status.hard and status.used."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("quota", self.sync)
        context.store.listen(r.QUOTAS, lambda change: self.queue.add(key_of(change.entry.obj)))
        for resource in r.NAMESPACED:
            if resource not in (r.QUOTAS, r.EVENTS, r.LEASES):
                context.store.listen(resource, self._content_changed)
        for entry in context.store.entries(r.QUOTAS):
            self.queue.add(key_of(entry.obj))

    def _content_changed(self, change: Change) -> None:
        if change.before and change.kind == "MODIFIED":
            same = pod_finished(change.before.obj) == pod_finished(change.entry.obj)
            if same and change.before.obj.get("spec") == change.entry.obj.get("spec"):
                return
        for quota_obj in self.context.store.objects(r.QUOTAS, namespace_of(change.entry.obj)):
            self.queue.add(key_of(quota_obj), SETTLE)

    def sync(self, key: Key) -> None:
        """Count one quota."""
        entry = self.context.store.get(r.QUOTAS, *key)
        if entry is None:
            return
        state = {"hard": copy(spec(entry.obj).get("hard") or {}), "used": quota.used(self.context.store, entry.obj)}
        self.context.registry.mutate(r.QUOTAS, entry.obj, lambda obj: obj.update(status=state))


class BudgetController:
    """Writes the status of PodDisruptionBudgets."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("budget", self.sync)
        context.store.listen(r.BUDGETS, lambda change: self.queue.add(key_of(change.entry.obj)))
        context.store.listen(r.PODS, self._pod_changed)
        for entry in context.store.entries(r.BUDGETS):
            self.queue.add(key_of(entry.obj))

    def _pod_changed(self, change: Change) -> None:
        for budget in self.context.store.objects(r.BUDGETS, namespace_of(change.entry.obj)):
            self.queue.add(key_of(budget), SETTLE)

    def sync(self, key: Key) -> None:
        """Count one budget."""
        entry = self.context.store.get(r.BUDGETS, *key)
        if entry is not None:
            state = disruption.numbers(self.context.store, entry.obj)
            self.context.registry.mutate(r.BUDGETS, entry.obj, lambda obj: obj.update(status=state))


class ClaimController:
    """Binds claims whose class exists (no volume stands behind them) and keeps used ones from vanishing."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("claim", self.sync)
        context.store.listen(r.CLAIMS, lambda change: self.queue.add(key_of(change.entry.obj)))
        context.store.listen(r.PODS, self._pod_changed)
        context.store.listen(r.STORAGE_CLASSES, lambda _: self._all())
        self._all()

    def _all(self) -> None:
        for entry in self.context.store.entries(r.CLAIMS):
            self.queue.add(key_of(entry.obj))

    def _pod_changed(self, change: Change) -> None:
        for name in claim_names(change.entry.obj):
            self.queue.add((namespace_of(change.entry.obj), name))

    def sync(self, key: Key) -> None:
        """Judge one claim."""
        entry = self.context.store.get(r.CLAIMS, *key)
        if entry is None:
            return
        claim = entry.obj
        users = [pod for pod in self.context.store.objects(r.PODS, key[0]) if key[1] in claim_names(pod)]
        if deleting(claim):
            if all(pod_finished(pod) for pod in users):
                self._write(claim, _unprotect)
            return
        classes = self.context.store.get(r.STORAGE_CLASSES, "", spec(claim).get("storageClassName", ""))
        if classes is None or (claim.get("status") or {}).get("phase") == "Bound":
            return
        if waits_for_pod(self.context.store, claim) and not any(spec(pod).get("nodeName") for pod in users):
            return
        self._write(claim, _bind)

    def _write(self, claim: Obj, change: Callable[[Obj], None]) -> None:
        self.context.registry.mutate(r.CLAIMS, claim, change)


def _unprotect(claim: Obj) -> None:
    meta(claim)["finalizers"] = [each for each in finalizers_of(claim) if each != PROTECTED]


def _bind(claim: Obj) -> None:
    spec(claim)["volumeName"] = f"pvc-{uid_of(claim)}"
    meta(claim).setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
    asked = copy(spec(claim).get("resources") or {}).get("requests") or {}
    claim["status"] = {"phase": "Bound", "accessModes": list(spec(claim)["accessModes"]), "capacity": asked}
