"""Making and removing the pods of a controller."""

from devkube.embedded import resources as r
from devkube.embedded.controllers.runtime import Context
from devkube.embedded.errors import ApiError
from devkube.embedded.objects import Obj, copy, meta, name_of, namespace_of, owner_reference, spec
from devkube.embedded.registry import DeleteOptions


def from_template(owner: Obj, template: Obj) -> Obj:
    """Return a new pod made from a template, owned by `owner`."""
    body = copy(template)
    about = {key: meta(body)[key] for key in ("labels", "annotations", "finalizers") if meta(body).get(key)}
    about |= {
        "generateName": f"{name_of(owner)[:57]}-",
        "namespace": namespace_of(owner),
        "ownerReferences": [owner_reference(owner)],
    }
    return {"kind": "Pod", "apiVersion": "v1", "metadata": about, "spec": spec(body)}


def create_pod(context: Context, owner: Obj, pod: Obj, by: str) -> ApiError | None:
    """Make a pod and say so in an event; returns the refusal when there is one."""
    prefix = pod["metadata"]["generateName"]
    try:
        made = context.registry.create(r.PODS, pod)
    except ApiError as refused:
        message = refused.message.replace(name_of(pod), prefix) if name_of(pod) else refused.message
        if "NamespaceTerminating" not in str(refused.details):
            context.events.record(owner, "FailedCreate", f"Error creating: {message}", warning=True, by=by)
        return refused
    context.events.record(owner, "SuccessfulCreate", f"Created pod: {name_of(made)}", by=by)
    return None


def delete_pod(context: Context, owner: Obj, pod: Obj, by: str) -> None:
    """Remove a pod with its own grace and say so in an event."""
    entry = context.store.get(r.PODS, namespace_of(pod), name_of(pod))
    if entry is None or entry.obj["metadata"]["uid"] != pod["metadata"]["uid"]:
        return
    context.registry.delete(r.PODS, entry, DeleteOptions())
    context.events.record(owner, "SuccessfulDelete", f"Deleted pod: {name_of(pod)}", by=by)


def removal_rank(pod: Obj, neighbours: int = 0) -> tuple[object, ...]:
    """Sort key: the pods that go first when there are too many come first."""
    status = pod.get("status") or {}
    phase = {"Pending": 0, "Unknown": 1, "Running": 2}.get(status.get("phase", "Pending"), 0)
    ready: Obj = next((c for c in status.get("conditions") or [] if c.get("type") == "Ready"), {})
    is_ready = ready.get("status") == "True"
    cost = (meta(pod).get("annotations") or {}).get("controller.kubernetes.io/pod-deletion-cost", "0")
    restarts = max((each.get("restartCount", 0) for each in status.get("containerStatuses") or []), default=0)
    return (
        bool(spec(pod).get("nodeName")),
        phase,
        is_ready,
        int(cost) if cost.lstrip("-").isdigit() else 0,
        -neighbours,
        _newest_first(ready.get("lastTransitionTime", "") if is_ready else ""),
        -restarts,
        _newest_first(meta(pod).get("creationTimestamp", "")),
        -int(meta(pod).get("resourceVersion", "0")),
    )


def _newest_first(stamp: str) -> tuple[int, ...]:
    return tuple(-ord(letter) for letter in stamp)
