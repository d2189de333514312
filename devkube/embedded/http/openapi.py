"""As much OpenAPI as kubectl asks for before it leaves validation and dry runs to the server."""

from devkube.embedded.errors import no_such_path
from devkube.embedded.objects import Obj
from devkube.embedded.resources import RESOURCES, Resource

_PARAMETERS = [{"name": name, "in": "query"} for name in ("dryRun", "fieldManager", "fieldValidation", "force")]


def _place(resource: Resource) -> str:
    return f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"


def document(path: str) -> Obj:
    """Return the index at /openapi/v3, or the document of one group and version; raises ApiError 404."""
    place = path.removeprefix("/openapi/v3").strip("/")
    if not place:
        places = dict.fromkeys(_place(resource) for resource in RESOURCES)
        return {"paths": {each: {"serverRelativeURL": f"/openapi/v3/{each}?hash=1"} for each in places}}
    found = [resource for resource in RESOURCES if _place(resource) == place]
    if not found:
        raise no_such_path()
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.37.2"},
        "paths": {_path(resource): {"patch": _operation(resource)} for resource in found},
        "components": {"schemas": {}},
    }


def _path(resource: Resource) -> str:
    space = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"/{_place(resource)}{space}/{resource.plural}/{{name}}"


def _operation(resource: Resource) -> Obj:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": kind,
        "parameters": _PARAMETERS,
        "responses": {"200": {"description": "OK"}},
    }
