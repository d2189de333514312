"""From a URL path to what it names."""

from dataclasses import dataclass

from devkube.embedded.errors import no_such_path
from devkube.embedded.resources import BY_PATH, NAMESPACES, PODS, Resource

_POD_PARTS = ("log", "exec", "eviction", "binding", "attach", "portforward")


@dataclass(frozen=True, slots=True)
class Target:
    """A resource, an object of it, or a subresource of an object."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    part: str = ""


def target_of(path: str) -> Target:
    """Read a path under /api or /apis; raises ApiError 404."""
    steps = path.strip("/").split("/")
    if steps[0] == "api":
        group, version, rest = "", steps[1] if len(steps) > 1 else "", steps[2:]
    elif len(steps) >= 3:
        group, version, rest = steps[1], steps[2], steps[3:]
    else:
        raise no_such_path()
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3 or "" in rest:
        raise no_such_path()
    resource = BY_PATH.get((group, version, rest[0]))
    if resource is None or (namespace and not resource.namespaced):
        raise no_such_path()
    target = Target(resource, namespace, *rest[1:])
    if target.name and resource.namespaced and not namespace:
        raise no_such_path()
    if target.part and target.part not in parts_of(resource):
        raise no_such_path()
    return target


def parts_of(resource: Resource) -> tuple[str, ...]:
    """Return the subresources of a resource."""
    parts: tuple[str, ...] = ("status",) if resource.status else ()
    if resource.scale:
        parts += ("scale",)
    if resource is PODS:
        parts += _POD_PARTS
    return (*parts, "finalize") if resource is NAMESPACES else parts
