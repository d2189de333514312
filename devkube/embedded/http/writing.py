"""POST, PUT, PATCH: making and changing objects."""

from typing import Any

from starlette.responses import Response

from devkube.embedded import errors, patching, schema
from devkube.embedded import resources as r
from devkube.embedded.http import apply
from devkube.embedded.http.call import Call
from devkube.embedded.http.codec import answer, check_depth, media_type, parse, read_body, typed
from devkube.embedded.http.scale import scale_of
from devkube.embedded.objects import Obj, copy, meta, name_of, spec
from devkube.embedded.schema import MismatchError
from devkube.embedded.store import Entry

PATCHES = (
    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json,"
    " application/apply-patch+yaml"
)


async def create(call: Call) -> Response:
    """POST to a collection."""
    resource = call.target.resource
    obj, warnings = await _read(call, resource)
    if resource is r.ACCESS_REVIEWS:
        obj |= {"metadata": {}, "status": {"allowed": True}}
        return answer({"kind": resource.kind, "apiVersion": resource.api_version, **obj}, 201)
    if resource.virtual:
        raise errors.method_not_allowed()
    made = call.api.registry.create(resource, obj, dry_run=call.dry_run)
    return answer(made, 201, warnings)


async def replace(call: Call) -> Response:
    """PUT an object or its subresource."""
    target, registry = call.target, call.api.registry
    if target.part == "scale":
        scale, _ = await _read(call, r.Resource("autoscaling", "v1", "", "Scale", "", True))
        return _rescale(call, scale)
    if target.part not in ("", "status", "finalize") or target.resource.virtual:
        raise errors.method_not_allowed()
    obj, warnings = await _read(call, target.resource)
    given = meta(obj).get("name", "")
    if given != target.name:
        raise errors.bad_request(
            f"the name of the object ({given[:300]}) does not match the name on the URL ({target.name})"
        )
    entry = registry.store.get(target.resource, target.namespace, target.name)
    if entry is None and target.resource.create_on_update and not target.part:
        meta(obj).pop("resourceVersion", None)
        return answer(registry.create(target.resource, obj, dry_run=call.dry_run), 201, warnings)
    if entry is None:
        raise errors.not_found(target.resource, target.name)
    new, _ = registry.update(target.resource, entry, obj, part=target.part, dry_run=call.dry_run)
    return answer(new, 200, warnings)


async def _read(call: Call, resource: r.Resource) -> tuple[Obj, list[str]]:
    body = await read_body(call.request)
    value = parse(body, media_type(call.request), strict=call.validation != "Ignore")
    if isinstance(value, dict):
        _check_kind(resource, value)
    node = schema.type_of(resource.group, resource.kind)
    obj, warnings = typed(node, value, resource.kind, resource.version, call.validation)
    return _placed(call, resource, obj), warnings


def _check_kind(resource: r.Resource, value: dict[str, Any]) -> None:
    version, kind = value.get("apiVersion") or resource.api_version, value.get("kind") or resource.kind
    if (version, kind) == (resource.api_version, resource.kind):
        return
    if not isinstance(version, str) or not isinstance(kind, str):
        raise errors.bad_request("couldn't get version/kind; json parse error: kind and apiVersion must be strings")
    if (version, kind) not in r.BY_KIND:
        raise errors.bad_request(
            f'no kind "{kind[:100]}" is registered for version "{version[:100]}" in scheme "k8s.io/api"'
        )
    raise errors.bad_request(
        f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        if version != resource.api_version
        else f"{kind} in version {version} cannot be handled as a {resource.kind}"
    )


def _placed(call: Call, resource: r.Resource, obj: Obj) -> Obj:
    made: Obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta(obj)}
    made |= {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    if not resource.namespaced:
        meta(made).pop("namespace", None)
        return made
    if not call.target.namespace:
        raise errors.method_not_allowed()
    if meta(made).setdefault("namespace", call.target.namespace) != call.target.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    return made


def _rescale(call: Call, scale: Obj) -> Response:
    target, registry = call.target, call.api.registry
    entry = registry.get(target.resource, target.namespace, target.name)
    replicas = spec(scale).get("replicas", 0)
    if replicas < 0:
        cause = errors.bad_value("spec.replicas", replicas, "must be greater than or equal to 0")
        kind = r.Resource("autoscaling", "v1", "scales", "Scale", "scale", True)
        raise errors.invalid(kind, target.name, [cause])
    new = copy(entry.obj)
    spec(new)["replicas"] = replicas
    meta(new)["resourceVersion"] = meta(scale).get("resourceVersion", "")
    made, _ = registry.update(target.resource, entry, new, dry_run=call.dry_run)
    return answer(scale_of(made))


async def patch(call: Call) -> Response:
    """PATCH an object or its subresource."""
    target, kind = call.target, media_type(call.request)
    if target.part not in ("", "status", "scale") or target.resource.virtual:
        raise errors.method_not_allowed()
    body = await read_body(call.request)
    if kind == "application/apply-patch+yaml":
        return apply.apply(call, body)
    if kind not in PATCHES:
        raise errors.unsupported_media_type(PATCHES)
    document = parse(body, "application/json", strict=False)
    check_depth(document)
    entry = call.api.registry.get(target.resource, target.namespace, target.name)
    if target.part == "scale":
        scale = _patched(kind, schema.type_of("autoscaling", "Scale"), scale_of(entry.obj), document)
        return _rescale(call, scale)
    return store_patched(call, entry, _patched(kind, schema.of_resource(target.resource), entry.obj, document), body)


def _patched(kind: str, node: schema.Node, obj: Obj, document: Any) -> Any:
    if kind == "application/json-patch+json":
        return patching.json_patch(obj, document)
    if not isinstance(document, dict):
        raise errors.bad_request("error decoding patch: json: cannot unmarshal array into Go value of type map")
    if kind == "application/merge-patch+json":
        return patching.merge_patch(obj, document)
    return patching.strategic_patch(node, obj, document)


def store_patched(call: Call, entry: Entry, value: Any, body: bytes) -> Response:
    """Decode, check and store what a patch made of an object."""
    target = call.target
    resource = target.resource
    try:
        decoded = schema.decode(schema.of_resource(resource), value)
    except MismatchError as wrong:
        cause = errors.bad_value("patch", body[:1000].decode("utf-8", "replace"), str(wrong))
        raise errors.invalid(resource, target.name, [cause]) from wrong
    if decoded.complaints and call.validation == "Strict":
        why = "strict decoding error: " + ", ".join(decoded.complaints[:50])
        cause = errors.bad_value("patch", body[:1000].decode("utf-8", "replace"), why)
        raise errors.invalid(resource, target.name, [cause])
    obj = decoded.obj
    for key in ("name", "namespace", "uid"):
        if key in entry.obj["metadata"] and meta(obj).get(key) != entry.obj["metadata"][key]:
            if key == "uid":
                cause = errors.bad_value("metadata.uid", str(meta(obj).get(key))[:100], "field is immutable")
                raise errors.invalid(resource, name_of(entry.obj), [cause])
            raise errors.bad_request(f"the {key} of the object does not match the {key} on the URL")
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
    new, _ = call.api.registry.update(resource, entry, obj, part=target.part, dry_run=call.dry_run)
    return answer(new, 200, decoded.complaints if call.validation == "Warn" else [])
