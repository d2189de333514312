"""Claims that keep a pod from its node."""

from devkube.embedded import resources as r
from devkube.embedded.objects import Obj, deleting, namespace_of, spec, status
from devkube.embedded.store import Store


def claim_names(pod: Obj) -> list[str]:
    """Return the claims a pod mounts."""
    volumes = spec(pod).get("volumes") or []
    return [each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each]


def waits_for_pod(store: Store, claim: Obj) -> bool:
    """True when the claim's class binds only once a pod needs it."""
    entry = store.get(r.STORAGE_CLASSES, "", spec(claim).get("storageClassName", ""))
    return entry is not None and entry.obj.get("volumeBindingMode") == "WaitForFirstConsumer"


def claims_reason(store: Store, pod: Obj) -> str:
    """Say which claim keeps the pod waiting; empty when none does."""
    for name in claim_names(pod):
        entry = store.get(r.CLAIMS, namespace_of(pod), name)
        if entry is None:
            return f'persistentvolumeclaim "{name}" not found'
        if deleting(entry.obj):
            return f'persistentvolumeclaim "{name}" is being deleted'
        if status(entry.obj).get("phase") != "Bound" and not waits_for_pod(store, entry.obj):
            return "pod has unbound immediate PersistentVolumeClaims"
    return ""
