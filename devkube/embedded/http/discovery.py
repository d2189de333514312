"""Discovery documents, as kubectl and the clients read them."""

import platform

from devkube.embedded.errors import no_such_path
from devkube.embedded.http.paths import parts_of
from devkube.embedded.objects import Obj
from devkube.embedded.resources import RESOURCES, Resource

VERSION = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2026-11-11T00:00:00Z",
    "goVersion": "go1.26.8",
    "compiler": "gc",
    "platform": f"linux/{'arm64' if platform.machine() == 'aarch64' else 'amd64'}",
}

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_PART_VERBS = {
    "log": ["get"],
    "exec": ["create", "get"],
    "attach": ["create", "get"],
    "portforward": ["create", "get"],
    "eviction": ["create"],
    "binding": ["create"],
    "finalize": ["update"],
}
_PART_KINDS = {
    "scale": ("Scale", "autoscaling", "v1"),
    "eviction": ("Eviction", "policy", "v1"),
    "binding": ("Binding", "", ""),
    "exec": ("PodExecOptions", "", ""),
    "attach": ("PodAttachOptions", "", ""),
    "portforward": ("PodPortForwardOptions", "", ""),
}


def document(path: str) -> Obj:
    """Return the discovery document of /api, /apis and what lies directly below; raises ApiError 404."""
    steps = path.strip("/").split("/")
    if steps == ["api"]:
        return {
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
        }
    if steps == ["apis"]:
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(name) for name in _groups()]}
    if steps[0] == "apis" and len(steps) == 2 and steps[1] in _groups():
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(steps[1])}
    group_version = "/".join(steps[1:])
    found = [resource for resource in RESOURCES if resource.api_version == group_version]
    if not found or (steps[0] == "api") != (not found[0].group):
        raise no_such_path()
    listed = [row for resource in found for row in _rows(resource)]
    body: Obj = {"kind": "APIResourceList"}
    if found[0].group:
        body["apiVersion"] = "v1"
    return body | {"groupVersion": group_version, "resources": sorted(listed, key=lambda row: str(row["name"]))}


def _groups() -> list[str]:
    return list(dict.fromkeys(resource.group for resource in RESOURCES if resource.group))


def _group(name: str) -> Obj:
    version = next(resource.version for resource in RESOURCES if resource.group == name)
    entry = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [entry], "preferredVersion": entry}


def _rows(resource: Resource) -> list[Obj]:
    verbs = ["create"] if resource.singular == "selfsubjectaccessreview" else _VERBS
    if resource.virtual and verbs is _VERBS:
        verbs = ["get", "list", "watch"]
    row: Obj = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": verbs,
    }
    if resource.short:
        row["shortNames"] = list(resource.short)
    if resource.categories:
        row["categories"] = list(resource.categories)
    return [row, *(_part_row(resource, part) for part in parts_of(resource))]


def _part_row(resource: Resource, part: str) -> Obj:
    kind, group, version = _PART_KINDS.get(part, (resource.kind, "", ""))
    row: Obj = {"name": f"{resource.plural}/{part}", "singularName": "", "namespaced": resource.namespaced}
    if group:
        row |= {"group": group, "version": version}
    return row | {"kind": kind, "verbs": _PART_VERBS.get(part, ["get", "patch", "update"])}
