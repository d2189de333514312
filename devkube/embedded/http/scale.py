"""The scale subresource."""

from devkube.embedded.objects import Obj, meta, spec, status
from devkube.embedded.selectors import written


def scale_of(obj: Obj) -> Obj:
    """Return the autoscaling/v1 Scale of a Deployment or ReplicaSet."""
    keys = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta(obj)[key] for key in keys},
        "spec": {"replicas": spec(obj).get("replicas", 0)},
        "status": {"replicas": status(obj).get("replicas", 0), "selector": written(spec(obj).get("selector"))},
    }
