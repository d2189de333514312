"""Server-side apply: create or merge, with the fields of each manager remembered in metadata.managedFields."""

from starlette.responses import Response

from devkube.embedded import errors, schema
from devkube.embedded.http import fields, writing
from devkube.embedded.http.call import OPTIONS, Call
from devkube.embedded.http.codec import answer, parse, typed
from devkube.embedded.objects import Obj, copy, meta


def apply(call: Call, body: bytes) -> Response:
    """PATCH with application/apply-patch+yaml; raises ApiError 409 when another manager owns a field."""
    target, registry = call.target, call.api.registry
    manager = call.text("fieldManager")
    if not manager:
        cause = errors.required("fieldManager", "is required for apply patch")
        raise errors.invalid(OPTIONS["PATCH"], "", [cause])
    value = parse(body, "application/json" if body.lstrip()[:1] == b"{" else "application/yaml")
    node = schema.of_resource(target.resource)
    validation = "Strict" if call.validation == "Strict" else "Ignore"
    wanted, _ = typed(node, value, target.resource.kind, target.resource.version, validation, whole=False)
    _check(call, wanted)
    entry = registry.store.get(target.resource, target.namespace, target.name)
    if entry is None:
        if target.part:
            raise errors.not_found(target.resource, target.name)
        fields.own(node, wanted, copy(wanted), manager, target.part)
        whole = schema.decode(node, wanted).obj
        made = registry.create(target.resource, _named(call, whole), dry_run=call.dry_run)
        return answer(made, 201)
    new = fields.merge(node, entry.obj, wanted, manager, target.part, force=call.flag("force"))
    if meta(wanted).get("resourceVersion"):
        meta(new)["resourceVersion"] = meta(wanted)["resourceVersion"]
    return writing.store_patched(call, entry, new, body)


def _check(call: Call, wanted: Obj) -> None:
    target = call.target
    if meta(wanted).setdefault("name", target.name) != target.name:
        raise errors.bad_request("metadata.name does not match the name on the URL")
    if target.namespace and meta(wanted).setdefault("namespace", target.namespace) != target.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if meta(wanted).get("managedFields"):
        raise errors.bad_request("metadata.managedFields must be nil")
    have = (wanted.get("apiVersion", ""), wanted.get("kind", ""))
    if have != (target.resource.api_version, target.resource.kind):
        raise errors.bad_request("incorrect or missing apiVersion and kind in the applied configuration")


def _named(call: Call, wanted: Obj) -> Obj:
    resource = call.target.resource
    made: Obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta(wanted)}
    return made | {key: value for key, value in wanted.items() if key not in ("kind", "apiVersion")}
