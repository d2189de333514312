"""Validation of the smaller kinds."""

import base64

from devkube.embedded.errors import Cause, bad_value, refused, required, unsupported
from devkube.embedded.objects import Obj, namespace_of, spec
from devkube.embedded.quantities import number
from devkube.embedded.rules import names
from devkube.embedded.rules.pods import EFFECTS

HIGHEST_USER_PRIORITY = 1_000_000_000


def check_priority_class(obj: Obj) -> list[Cause]:
    """Check a PriorityClass."""
    causes: list[Cause] = []
    name = obj["metadata"].get("name", "")
    if name.startswith("system-") and name not in ("system-cluster-critical", "system-node-critical"):
        causes.append(
            refused("metadata.name", "priority class names with 'system-' prefix are reserved for system use only")
        )
    if obj["value"] > HIGHEST_USER_PRIORITY and not name.startswith("system-"):
        causes.append(refused("value", f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"))
    if obj["preemptionPolicy"] not in ("Never", "PreemptLowerPriority"):
        causes.append(unsupported("preemptionPolicy", obj["preemptionPolicy"], ["Never", "PreemptLowerPriority"]))
    return causes


def check_priority_class_update(new: Obj, old: Obj) -> list[Cause]:
    """Value and preemptionPolicy are fixed."""
    causes = check_priority_class(new)
    if new["value"] != old["value"]:
        causes.append(refused("value", "may not be changed in an update."))
    if new["preemptionPolicy"] != old["preemptionPolicy"]:
        causes.append(bad_value("preemptionPolicy", new["preemptionPolicy"], "field is immutable"))
    return causes


def check_service(obj: Obj) -> list[Cause]:
    """Check a Service."""
    body = spec(obj)
    causes: list[Cause] = []
    if body["type"] not in ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"):
        choices = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]
        causes.append(unsupported("spec.type", body["type"], choices))
    ports = body.get("ports") or []
    if not ports and body.get("clusterIP") != "None" and body["type"] != "ExternalName":
        causes.append(required("spec.ports"))
    for at, port in enumerate(ports):
        where = f"spec.ports[{at}]"
        if len(ports) > 1 and not port.get("name"):
            causes.append(required(f"{where}.name"))
        if not 0 < port.get("port", 0) < 65536:
            causes.append(bad_value(f"{where}.port", port.get("port", 0), "must be between 1 and 65535, inclusive"))
    return causes + names.check_labels(body.get("selector") or {}, "spec.selector")


def check_service_update(new: Obj, old: Obj) -> list[Cause]:
    """The address is fixed while the Service keeps its type."""
    causes = check_service(new)
    before, after = spec(old).get("clusterIP"), spec(new).get("clusterIP")
    if before and after != before and spec(new)["type"] != "ExternalName":
        causes.append(bad_value("spec.clusterIPs[0]", [after], "may not change once set"))
    return causes


def check_claim(obj: Obj) -> list[Cause]:
    """Check a PersistentVolumeClaim."""
    body = spec(obj)
    causes: list[Cause] = []
    if not body.get("accessModes"):
        causes.append(required("spec.accessModes", "at least 1 access mode is required"))
    storage = ((body.get("resources") or {}).get("requests") or {}).get("storage")
    if storage is None:
        causes.append(required("spec.resources[storage]"))
    elif number(storage) <= 0:
        causes.append(bad_value("spec.resources[storage]", storage, "must be greater than zero"))
    return causes


def check_claim_update(new: Obj, old: Obj) -> list[Cause]:
    """Only the requested size may grow."""
    causes = check_claim(new)
    after, before = dict(spec(new)), dict(spec(old))
    asked = [number(((b.pop("resources", None) or {}).get("requests") or {}).get("storage")) for b in (after, before)]
    if asked[0] < asked[1]:
        causes.append(refused("spec.resources.requests.storage", "field can not be less than status.capacity"))
    if any(
        after.get(key) != before.get(key) for key in {*after, *before} - {"volumeName", "volumeAttributesClassName"}
    ):
        why = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
        )
        causes.append(refused("spec", why))
    return causes


def check_quota(obj: Obj) -> list[Cause]:
    """Check a ResourceQuota."""
    causes: list[Cause] = []
    for name, value in (spec(obj).get("hard") or {}).items():
        if wrong := names.qualified(name):
            causes.append(bad_value(f"spec.hard[{name}]", name, wrong))
        if number(value) < 0:
            causes.append(bad_value(f"spec.hard[{name}]", value, "must be greater than or equal to 0"))
    return causes


def check_budget(obj: Obj) -> list[Cause]:
    """Check a PodDisruptionBudget."""
    body = spec(obj)
    if "minAvailable" in body and "maxUnavailable" in body:
        return [bad_value("spec", "", "minAvailable and maxUnavailable cannot be both set")]
    return names.check_selector(body.get("selector"), "spec.selector") + [
        bad_value(f"spec.{key}", body[key], "must be a number of pods or a percentage")
        for key in ("minAvailable", "maxUnavailable")
        if not _amount(body.get(key, 0))
    ]


def _amount(value: object) -> bool:
    text = str(value).removesuffix("%") if isinstance(value, str) and value.endswith("%") else value
    return (isinstance(text, int) and text >= 0) or (isinstance(text, str) and text.isascii() and text.isdigit())


def check_node(obj: Obj) -> list[Cause]:
    """Check the taints of a Node."""
    causes: list[Cause] = []
    for at, taint in enumerate(spec(obj).get("taints") or []):
        where = f"spec.taints[{at}]"
        if wrong := names.qualified(taint.get("key", "")):
            causes.append(bad_value(f"{where}.key", taint.get("key", ""), wrong))
        if taint.get("effect") not in EFFECTS:
            causes.append(unsupported(f"{where}.effect", taint.get("effect", ""), EFFECTS))
    return causes


def check_storage_class(obj: Obj) -> list[Cause]:
    """Check a StorageClass."""
    causes = [] if obj.get("provisioner") else [required("provisioner")]
    if obj["volumeBindingMode"] not in ("Immediate", "WaitForFirstConsumer"):
        choices = ["Immediate", "WaitForFirstConsumer"]
        causes.append(unsupported("volumeBindingMode", obj["volumeBindingMode"], choices))
    return causes


def check_secret(obj: Obj) -> list[Cause]:
    """Check a Secret's keys and size; `stringData` is folded in on the way."""
    data = obj.setdefault("data", {})
    for key, value in (obj.pop("stringData", None) or {}).items():
        data[key] = base64.b64encode(value.encode("utf-8", "replace")).decode()
    if not data:
        obj.pop("data")
    return _data_keys(obj, "data") + _size(obj, "data")


def check_config_map(obj: Obj) -> list[Cause]:
    """Check a ConfigMap's keys and size."""
    return _data_keys(obj, "data") + _data_keys(obj, "binaryData") + _size(obj, "data", "binaryData")


def _data_keys(obj: Obj, part: str) -> list[Cause]:
    wrong = [key for key in obj.get(part) or {} if names.qualified(key) or "/" in key]
    says = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    return [bad_value(f"{part}[{key}]", key, says) for key in wrong]


def _size(obj: Obj, *parts: str) -> list[Cause]:
    total = sum(len(value.encode("utf-8", "replace")) for part in parts for value in (obj.get(part) or {}).values())
    if total <= 1024 * 1024:
        return []
    return [Cause("", "Too long: may not be more than 1048576 bytes", "FieldValueTooLong")]


def check_data_update(new: Obj, old: Obj) -> list[Cause]:
    """An immutable ConfigMap or Secret keeps its data."""
    causes = check_secret(new) if new["kind"] == "Secret" else check_config_map(new)
    if old.get("immutable"):
        for part in ("data", "binaryData", "immutable"):
            if new.get(part) != old.get(part):
                causes.append(refused(part, "field is immutable when `immutable` is set"))
    if old["kind"] == "Secret" and new.get("type") != old.get("type"):
        causes.append(bad_value("type", new.get("type"), "field is immutable"))
    return causes


def check_event(obj: Obj) -> list[Cause]:
    """An event stands in the namespace of what it is about."""
    about = (obj.get("involvedObject") or {}).get("namespace", "")
    if (about or "default") != namespace_of(obj):
        return [bad_value("involvedObject.namespace", about, "does not match event.namespace")]
    return []


def check_lease(obj: Obj) -> list[Cause]:
    """Check a Lease."""
    seconds = spec(obj).get("leaseDurationSeconds", 1)
    return [bad_value("spec.leaseDurationSeconds", seconds, "must be greater than 0")] if seconds <= 0 else []
