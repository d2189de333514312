"""What is decided about a new object beside its own shape: its namespace, its priority, its quota."""

from devkube.embedded import quota
from devkube.embedded import resources as r
from devkube.embedded.errors import Cause, forbidden, not_found
from devkube.embedded.objects import Obj, deleting, finalizers_of, meta, name_of, namespace_of, spec
from devkube.embedded.rules.defaults import qos_class
from devkube.embedded.store import Entry, Store


def check_namespace(store: Store, resource: r.Resource, obj: Obj) -> None:
    """A namespace must exist and live; raises ApiError 404, 403."""
    namespace = namespace_of(obj)
    entry = store.get(r.NAMESPACES, "", namespace)
    if entry is None:
        raise not_found(r.NAMESPACES, namespace)
    if deleting(entry.obj):
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        cause = Cause("metadata.namespace", f"namespace {namespace} is being terminated", "NamespaceTerminating")
        raise forbidden(resource, name_of(obj), why, [cause])


def prioritise(store: Store, pod: Obj) -> None:
    """Resolve the priority class into spec.priority and preemptionPolicy; raises ApiError 403."""
    body = spec(pod)
    name = body.get("priorityClassName", "")
    entry = store.get(r.PRIORITY_CLASSES, "", name) if name else _default_class(store)
    if name and entry is None:
        raise forbidden(r.PODS, name_of(pod), f"no PriorityClass with name {name} was found")
    value, policy = 0, "PreemptLowerPriority"
    if entry is not None:
        body["priorityClassName"] = name_of(entry.obj)
        value, policy = entry.obj["value"], entry.obj.get("preemptionPolicy", policy)
    if body.get("priority", value) != value:
        why = f"the integer value of priority ({body['priority']}) must not be provided in pod spec; priority admission"
        raise forbidden(r.PODS, name_of(pod), f"{why} controller computed {value} from the given PriorityClass name")
    body["priority"] = value
    body.setdefault("preemptionPolicy", policy)


def _default_class(store: Store) -> Entry | None:
    found = [entry for entry in store.entries(r.PRIORITY_CLASSES) if entry.obj.get("globalDefault")]
    return min(found, key=lambda entry: int(entry.obj["value"]), default=None)


def mutate(store: Store, resource: r.Resource, obj: Obj) -> None:
    """Fill in what depends on other objects; raises ApiError."""
    if resource.namespaced:
        check_namespace(store, resource, obj)
    if resource is r.PODS:
        prioritise(store, obj)
        obj["status"] = {"phase": "Pending", "qosClass": qos_class(obj)}
    if resource is r.SERVICES:
        _give_address(store, obj)
    if resource is r.CLAIMS:
        meta(obj)["finalizers"] = sorted({*finalizers_of(obj), "kubernetes.io/pvc-protection"})
    if resource is r.NODES:
        _await_ready(obj)
    if resource is r.CLAIMS and "storageClassName" not in spec(obj):
        for storage in store.objects(r.STORAGE_CLASSES):
            if (meta(storage).get("annotations") or {}).get("storageclass.kubernetes.io/is-default-class") == "true":
                spec(obj)["storageClassName"] = name_of(storage)


def _give_address(store: Store, service: Obj) -> None:
    """Give a Service its own address, though nothing is routed to it here."""
    body = spec(service)
    if body.get("type") == "ExternalName":
        return
    if not body.get("clusterIP"):
        taken = {spec(each).get("clusterIP") for each in store.objects(r.SERVICES)}
        body["clusterIP"] = next(ip for n in range(2, 65_536) if (ip := f"10.96.{n >> 8}.{n & 255}") not in taken)
    body.setdefault("clusterIPs", [body["clusterIP"]])


def _await_ready(node: Obj) -> None:
    """A new node takes no pods until it is known to be ready."""
    taints = spec(node).setdefault("taints", [])
    if not any(each.get("key") == "node.kubernetes.io/not-ready" for each in taints):
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})


def validate(store: Store, resource: r.Resource, obj: Obj) -> None:
    """Refuse what a quota forbids; raises ApiError 403."""
    if resource.namespaced:
        quota.admit(store, resource, obj)
