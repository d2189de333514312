"""Validation of pods and pod templates."""

from collections.abc import Callable, Iterable

from devkube.embedded.errors import Cause, bad_value, duplicate, refused, required, unsupported
from devkube.embedded.objects import Obj, copy, spec
from devkube.embedded.quantities import number
from devkube.embedded.rules import names

OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]


def check_pod_spec(body: Obj, path: str) -> list[Cause]:
    """Check a pod's spec; `path` is where it stands in the object."""
    causes: list[Cause] = []
    volumes = _volumes(body.get("volumes") or [], f"{path}.volumes", causes)
    if not body.get("containers"):
        causes.append(required(f"{path}.containers"))
    seen: set[str] = set()
    for group in ("initContainers", "containers"):
        for at, container in enumerate(body.get(group) or []):
            where = f"{path}.{group}[{at}]"
            causes += _container(container, where, volumes)
            name = container.get("name", "")
            if name in seen:
                causes.append(duplicate(f"{where}.name", name))
            seen.add(name)
    if body["restartPolicy"] not in ("Always", "OnFailure", "Never"):
        choices = ["Always", "OnFailure", "Never"]
        causes.append(unsupported(f"{path}.restartPolicy", body["restartPolicy"], choices))
    if body.get("activeDeadlineSeconds", 1) < 1:
        why = "must be between 1 and 2147483647, inclusive"
        causes.append(bad_value(f"{path}.activeDeadlineSeconds", body["activeDeadlineSeconds"], why))
    if body["terminationGracePeriodSeconds"] < 0:
        where = f"{path}.terminationGracePeriodSeconds"
        causes.append(bad_value(where, body["terminationGracePeriodSeconds"], "must be greater than or equal to 0"))
    causes += names.check_labels(body.get("nodeSelector") or {}, f"{path}.nodeSelector")
    causes += _tolerations(body.get("tolerations") or [], f"{path}.tolerations")
    return causes + _affinity(body.get("affinity") or {}, f"{path}.affinity")


def _volumes(volumes: list[Obj], path: str, causes: list[Cause]) -> set[str]:
    found: set[str] = set()
    for at, volume in enumerate(volumes):
        name = volume.get("name", "")
        if not name:
            causes.append(required(f"{path}[{at}].name"))
        elif wrong := names.dns_label(name):
            causes.append(bad_value(f"{path}[{at}].name", name, wrong))
        elif name in found:
            causes.append(duplicate(f"{path}[{at}].name", name))
        if len(volume) > 2:
            causes.append(refused(f"{path}[{at}]", "may not specify more than 1 volume type"))
        if "persistentVolumeClaim" in volume and not volume["persistentVolumeClaim"].get("claimName"):
            causes.append(required(f"{path}[{at}].persistentVolumeClaim.claimName"))
        if number((volume.get("emptyDir") or {}).get("sizeLimit")) < 0:
            causes.append(
                refused(f"{path}[{at}].emptyDir.sizeLimit", "SizeLimit field must be a valid resource quantity")
            )
        found.add(name)
    return found


def _container(container: Obj, path: str, volumes: set[str]) -> list[Cause]:
    causes = _named(container, path, names.dns_label)
    image = container.get("image", "")
    if not image:
        causes.append(required(f"{path}.image"))
    elif image != image.strip():
        causes.append(bad_value(f"{path}.image", image, "must not have leading or trailing whitespace"))
    if container["imagePullPolicy"] not in ("Always", "IfNotPresent", "Never"):
        choices = ["Always", "IfNotPresent", "Never"]
        causes.append(unsupported(f"{path}.imagePullPolicy", container["imagePullPolicy"], choices))
    causes += _resources(container["resources"], f"{path}.resources")
    causes += _ports(container.get("ports") or [], f"{path}.ports")
    for at, variable in enumerate(container.get("env") or []):
        causes += _named(variable, f"{path}.env[{at}]", names.env_name)
        if variable.get("value") and variable.get("valueFrom"):
            where = f"{path}.env[{at}].valueFrom"
            causes.append(bad_value(where, "", "may not be specified when `value` is not empty"))
    return causes + _mounts(container.get("volumeMounts") or [], f"{path}.volumeMounts", volumes)


def _named(obj: Obj, path: str, rule: Callable[[str], str]) -> list[Cause]:
    name = obj.get("name", "")
    if not name:
        return [required(f"{path}.name")]
    wrong = rule(name)
    return [bad_value(f"{path}.name", name, wrong)] if wrong else []


def _mounts(mounts: list[Obj], path: str, volumes: set[str]) -> list[Cause]:
    causes: list[Cause] = []
    places: set[str] = set()
    for at, mount in enumerate(mounts):
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            causes.append(required(f"{path}[{at}].name"))
        elif name not in volumes:
            causes.append(Cause(f"{path}[{at}].name", f'Not found: "{name}"', "FieldValueNotFound"))
        if not place:
            causes.append(required(f"{path}[{at}].mountPath"))
        elif place in places:
            causes.append(bad_value(f"{path}[{at}].mountPath", place, "must be unique"))
        places.add(place)
        if ".." in str(mount.get("subPath", "")).split("/"):
            causes.append(bad_value(f"{path}[{at}].subPath", mount["subPath"], "must not contain '..'"))
    return causes


def _ports(ports: list[Obj], path: str) -> list[Cause]:
    causes: list[Cause] = []
    seen: set[str] = set()
    for at, port in enumerate(ports):
        where = f"{path}[{at}]"
        if name := port.get("name", ""):
            if wrong := names.port_name(name):
                causes.append(bad_value(f"{where}.name", name, wrong))
            elif name in seen:
                causes.append(duplicate(f"{where}.name", name))
            seen.add(name)
        number_ = port.get("containerPort")
        if not number_:
            causes.append(required(f"{where}.containerPort"))
        elif not 0 < number_ < 65536:
            causes.append(bad_value(f"{where}.containerPort", number_, "must be between 1 and 65535, inclusive"))
        if port["protocol"] not in ("TCP", "UDP", "SCTP"):
            causes.append(unsupported(f"{where}.protocol", port["protocol"], ["TCP", "UDP", "SCTP"]))
    return causes


def is_extended(resource: str) -> bool:
    """True for extended resources such as nvidia.com/gpu."""
    return (
        "/" in resource
        and not resource.split("/", maxsplit=1)[0].endswith("kubernetes.io")
        and "requests." not in resource
    )


_STANDARD = ("cpu", "memory", "ephemeral-storage")


def _resources(resources: Obj, path: str) -> list[Cause]:
    causes: list[Cause] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for part, values in (("limits", limits), ("requests", requests)):
        for name, value in values.items():
            causes += _quantity(name, value, f"{path}.{part}[{name}]", f"{path}.{part}")
    for name, value in requests.items():
        if name not in limits:
            if is_extended(name):
                causes.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
        elif is_extended(name) and number(value) != number(limits[name]):
            causes.append(bad_value(f"{path}.requests", value, f"must be equal to {name} limit of {limits[name]}"))
        elif number(value) > number(limits[name]):
            why = f"must be less than or equal to {name} limit of {limits[name]}"
            causes.append(bad_value(f"{path}.requests", value, why))
    return causes


def _quantity(name: str, value: str, where: str, part: str) -> Iterable[Cause]:
    if wrong := names.qualified(name):
        yield bad_value(where, name, wrong)
    elif "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
        yield bad_value(where, name, "must be a standard resource for containers")
    if number(value) < 0:
        yield bad_value(where, value, "must be greater than or equal to 0")
    elif is_extended(name) and number(value).denominator != 1:
        yield bad_value(where, value, "must be an integer")


def _tolerations(tolerations: list[Obj], path: str) -> list[Cause]:
    causes: list[Cause] = []
    for at, toleration in enumerate(tolerations):
        where, operator = f"{path}[{at}]", toleration.get("operator") or "Equal"
        if operator not in ("Equal", "Exists", "Lt", "Gt"):
            causes.append(unsupported(f"{where}.operator", operator, ["Equal", "Exists"]))
        if not toleration.get("key") and operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            causes.append(bad_value(f"{where}.operator", operator, why))
        if toleration.get("effect") and toleration["effect"] not in EFFECTS:
            causes.append(unsupported(f"{where}.effect", toleration["effect"], EFFECTS))
        if "tolerationSeconds" in toleration and toleration.get("effect") != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            causes.append(bad_value(f"{where}.effect", toleration.get("effect", ""), why))
    return causes


def _affinity(affinity: Obj, path: str) -> list[Cause]:
    node = affinity.get("nodeAffinity") or {}
    must = node.get("requiredDuringSchedulingIgnoredDuringExecution")
    causes: list[Cause] = []
    if must is not None:
        where = f"{path}.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        if not must.get("nodeSelectorTerms"):
            causes.append(required(where, "must have at least one node selector term"))
        for at, term in enumerate(must.get("nodeSelectorTerms") or []):
            causes += _term(term, f"{where}[{at}]")
    for at, soft in enumerate(node.get("preferredDuringSchedulingIgnoredDuringExecution") or []):
        where = f"{path}.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[{at}]"
        if not 1 <= soft.get("weight", 0) <= 100:
            causes.append(bad_value(f"{where}.weight", soft.get("weight", 0), "must be in the range 1-100"))
        causes += _term(soft.get("preference") or {}, f"{where}.preference")
    return causes


def _term(term: Obj, path: str) -> list[Cause]:
    causes: list[Cause] = []
    for at, each in enumerate(term.get("matchFields") or []):
        where = f"{path}.matchFields[{at}]"
        if each.get("key") != "metadata.name":
            causes.append(bad_value(f"{where}.key", each.get("key", ""), "not a valid field selector key"))
        if each.get("operator") not in ("In", "NotIn") or len(each.get("values") or []) != 1:
            causes.append(bad_value(f"{where}.operator", each.get("operator", ""), "not a valid selector operator"))
    for at, each in enumerate(term.get("matchExpressions") or []):
        where, operator, values = f"{path}.matchExpressions[{at}]", each.get("operator"), each.get("values") or []
        if wrong := names.qualified(each.get("key", "")):
            causes.append(bad_value(f"{where}.key", each.get("key", ""), wrong))
        if operator not in OPERATORS:
            causes.append(bad_value(f"{where}.operator", operator, "not a valid selector operator"))
        elif operator in ("In", "NotIn") and not values:
            causes.append(required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist") and values:
            causes.append(
                refused(f"{where}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
            )
        elif operator in ("Gt", "Lt") and len(values) != 1:
            causes.append(required(f"{where}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    return causes


def check_pod(pod: Obj) -> list[Cause]:
    """Check a new pod."""
    return check_pod_spec(spec(pod), "spec")


MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def check_pod_update(new: Obj, old: Obj) -> list[Cause]:
    """A pod's spec is fixed but for a few fields."""
    causes = check_pod_spec(spec(new), "spec")
    before, after = copy(spec(old)), copy(spec(new))
    had, has = before.pop("tolerations", []), after.pop("tolerations", [])
    if any(each not in has for each in had):
        causes.append(
            refused("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
        )
    for body in (before, after):
        body.pop("activeDeadlineSeconds", None)
        for group in ("containers", "initContainers"):
            for container in body.get(group) or []:
                container.pop("image", None)
    if before != after:
        causes.append(refused("spec", MUTABLE))
    return causes
