"""The Deployment controller."""

from devkube.embedded import resources as r
from devkube.embedded.controllers import deployment_status, rollout
from devkube.embedded.controllers.runtime import Context, Queue, key_of
from devkube.embedded.errors import ApiError
from devkube.embedded.objects import (
    Obj,
    annotations_of,
    controller_of,
    copy,
    deleting,
    meta,
    name_of,
    namespace_of,
    owner_reference,
    pod_finished,
    spec,
    status,
    uid_of,
)
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.store import Change, Key

BY = "deployment-controller"
_OWN = (rollout.REVISION, rollout.DESIRED, rollout.MOST, "kubectl.kubernetes.io/last-applied-configuration")


class DeploymentController:
    """Rolls pods from one template to the next."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queue: Queue[Key] = Queue("deployment", self.sync)
        context.store.listen(r.DEPLOYMENTS, lambda change: self.queue.add(key_of(change.entry.obj)))
        context.store.listen(r.REPLICASETS, self._set_changed)
        context.store.listen(r.PODS, self._pod_changed)
        for entry in context.store.entries(r.DEPLOYMENTS):
            self.queue.add(key_of(entry.obj))

    def _set_changed(self, change: Change) -> None:
        owner = controller_of(change.entry.obj)
        if owner and owner["kind"] == "Deployment":
            self.queue.add((namespace_of(change.entry.obj), owner["name"]))

    def _pod_changed(self, change: Change) -> None:
        """A Recreate rollout waits for the last old pod to go."""
        if change.kind == "MODIFIED" and not pod_finished(change.entry.obj):
            return
        owner = controller_of(change.entry.obj)
        if owner and owner["kind"] == "ReplicaSet":
            entry = self.context.store.get(r.REPLICASETS, namespace_of(change.entry.obj), owner["name"])
            above = controller_of(entry.obj) if entry else None
            if above:
                self.queue.add((namespace_of(change.entry.obj), above["name"]))

    def sync(self, key: Key) -> None:
        """Take one step of a Deployment's rollout."""
        entry = self.context.store.get(r.DEPLOYMENTS, *key)
        if entry is None:
            return
        deployment = entry.obj
        with self.context.store.batch():
            if not deleting(deployment):
                self._step(deployment)
            sets = self._sets(deployment)
            new = _newest(deployment, sets)
            wait = deployment_status.report(self.context, deployment, new, sets)
        if wait:
            self.queue.add(key, wait)

    def _sets(self, deployment: Obj) -> list[Obj]:
        return self.context.owned.controlled(uid_of(deployment), r.REPLICASETS)

    def _step(self, deployment: Obj) -> None:
        sets = self._sets(deployment)
        new = _newest(deployment, sets)
        if spec(deployment).get("paused"):
            if new is not None:
                self._number(deployment, new, sets)
            self._rescale(deployment, sets)
            return
        if new is not None and self._resized(deployment, sets):
            self._number(deployment, new, sets)
            self._rescale(deployment, self._sets(deployment))
            return
        old = [each for each in sets if new is None or uid_of(each) != uid_of(new)]
        if not rollout.rolling(deployment) and not self._emptied(deployment, old):
            return
        new = self._ensure_new(deployment, new, sets)
        if new is None:
            return
        self._scale(deployment, new, rollout.new_size(deployment, new, [*old, new]))
        if rollout.rolling(deployment):
            new = _newest(deployment, self._sets(deployment)) or new
            for name, size in rollout.old_sizes(deployment, new, old).items():
                self._scale(deployment, next(each for each in old if name_of(each) == name), size)
        self._forget(deployment, old)

    def _emptied(self, deployment: Obj, old: list[Obj]) -> bool:
        """Bring the old ReplicaSets to zero; say whether their pods are gone (strategy Recreate)."""
        for each in old:
            self._scale(deployment, each, 0)
        pods = [pod for each in old for pod in self.context.owned.controlled(uid_of(each), r.PODS)]
        return all(pod_finished(pod) for pod in pods)

    def _resized(self, deployment: Obj, sets: list[Obj]) -> bool:
        """True when spec.replicas changed since the ReplicaSets were last sized."""
        said = [annotations_of(each).get(rollout.DESIRED) for each in sets if rollout.wanted(each) > 0]
        return any(each is not None and each != str(spec(deployment)["replicas"]) for each in said)

    def _rescale(self, deployment: Obj, sets: list[Obj]) -> None:
        active = [each for each in sets if rollout.wanted(each) > 0]
        new = _newest(deployment, sets)
        if len(active) <= 1:
            target = active[0] if active else new
            if target is not None:
                self._scale(deployment, target, spec(deployment)["replicas"])
            return
        state = status(new).get("availableReplicas", 0) if new else 0
        if new is not None and rollout.wanted(new) == state == spec(deployment)["replicas"]:
            for each in active:
                if uid_of(each) != uid_of(new):
                    self._scale(deployment, each, 0)
        elif rollout.rolling(deployment):
            for name, size in rollout.proportional(deployment, active).items():
                self._scale(deployment, next(each for each in active if name_of(each) == name), size)

    def _ensure_new(self, deployment: Obj, new: Obj | None, sets: list[Obj]) -> Obj | None:
        if new is None:
            return self._make(deployment, sets)
        self._number(deployment, new, sets)
        return new

    def _number(self, deployment: Obj, new: Obj, sets: list[Obj]) -> None:
        """Give the new ReplicaSet (one brought back, too) the highest revision and the Deployment's annotations."""
        highest = max((rollout.revision_of(each) for each in sets if uid_of(each) != uid_of(new)), default=0)
        revision = str(max(highest + 1, rollout.revision_of(new)))

        def change(obj: Obj) -> None:
            about = meta(obj).setdefault("annotations", {})
            about |= {key: value for key, value in annotations_of(deployment).items() if key not in _OWN}
            about[rollout.REVISION] = revision
            _count_spec(obj, {"minReadySeconds": spec(deployment).get("minReadySeconds", 0)})

        self.context.registry.mutate(r.REPLICASETS, new, change)
        self._write_revision(deployment, revision)

    def _write_revision(self, deployment: Obj, revision: str) -> None:
        def change(obj: Obj) -> None:
            meta(obj).setdefault("annotations", {})[rollout.REVISION] = revision

        self.context.registry.mutate(r.DEPLOYMENTS, deployment, change)

    def _make(self, deployment: Obj, sets: list[Obj]) -> Obj | None:
        template = copy(spec(deployment)["template"])
        digest = rollout.template_hash(template, status(deployment).get("collisionCount", 0))
        meta(template).setdefault("labels", {})[rollout.HASH] = digest
        selector = copy(spec(deployment)["selector"])
        selector.setdefault("matchLabels", {})[rollout.HASH] = digest
        revision = str(max((rollout.revision_of(each) for each in sets), default=0) + 1)
        notes = {key: value for key, value in annotations_of(deployment).items() if key not in _OWN}
        body: Obj = {
            "kind": "ReplicaSet",
            "apiVersion": "apps/v1",
            "metadata": {
                "name": f"{name_of(deployment)}-{digest}",
                "namespace": namespace_of(deployment),
                "labels": dict(meta(template)["labels"]),
                "annotations": notes | {rollout.REVISION: revision},
                "ownerReferences": [owner_reference(deployment)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        }
        if spec(deployment).get("minReadySeconds"):
            body["spec"]["minReadySeconds"] = spec(deployment)["minReadySeconds"]
        try:
            made = self.context.registry.create(r.REPLICASETS, body)
        except ApiError as refused:
            self._not_made(deployment, refused)
            return None
        self._write_revision(deployment, revision)
        deployment_status.made(self.context, deployment, made)
        return made

    def _not_made(self, deployment: Obj, refused: ApiError) -> None:
        if refused.reason == "AlreadyExists":

            def collide(obj: Obj) -> None:
                status(obj)["collisionCount"] = status(obj).get("collisionCount", 0) + 1

            self.context.registry.mutate(r.DEPLOYMENTS, deployment, collide)
            return
        message = f"Failed to create new replica set: {refused.message}"
        self.context.events.record(deployment, "ReplicaSetCreateError", message, warning=True, by=BY)
        self.queue.retry(key_of(deployment))

    def _scale(self, deployment: Obj, replica_set: Obj, size: int) -> None:
        before = rollout.wanted(replica_set)
        most = spec(deployment)["replicas"] + rollout.bounds(deployment)[0]

        def change(obj: Obj) -> None:
            about = meta(obj).setdefault("annotations", {})
            about |= {rollout.DESIRED: str(spec(deployment)["replicas"]), rollout.MOST: str(most)}
            _count_spec(obj, {"replicas": size})

        self.context.registry.mutate(r.REPLICASETS, replica_set, change)
        if size != before:
            way = "up" if size > before else "down"
            text = f"Scaled {way} replica set {name_of(replica_set)} from {before} to {size}"
            self.context.events.record(deployment, "ScalingReplicaSet", text, by=BY)

    def _forget(self, deployment: Obj, old: list[Obj]) -> None:
        """Remove old ReplicaSets beyond the history limit, once the rollout is done."""
        present = self.context.store.get(r.DEPLOYMENTS, *key_of(deployment))
        if present is None or not rollout.complete(present.obj, status(present.obj)):
            return
        done = [each for each in old if not rollout.wanted(each) and not status(each).get("replicas")]
        done.sort(key=rollout.revision_of)
        for each in done[: max(len(done) - spec(deployment)["revisionHistoryLimit"], 0)]:
            entry = self.context.store.get(r.REPLICASETS, *key_of(each))
            if entry is not None and not deleting(entry.obj):
                self.context.registry.delete(r.REPLICASETS, entry, DeleteOptions(policy="Background"))


def _newest(deployment: Obj, sets: list[Obj]) -> Obj | None:
    """Return the ReplicaSet of the present template, the oldest when there are several."""
    template = rollout.bare_template(spec(deployment)["template"])
    same = [each for each in sets if rollout.bare_template(spec(each)["template"]) == template]
    return min(same, key=lambda each: str(meta(each)["creationTimestamp"]), default=None)


def _count_spec(obj: Obj, values: Obj) -> None:
    """Set spec values, dropping zeros the API leaves out, and count the change as a new generation."""
    before = dict(spec(obj))
    spec(obj).update(values)
    if not spec(obj).get("minReadySeconds"):
        spec(obj).pop("minReadySeconds", None)
    if spec(obj) != before:
        meta(obj)["generation"] = meta(obj).get("generation", 1) + 1
