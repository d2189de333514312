"""DELETE: one object or a collection."""

from typing import Any

from starlette.responses import Response

from devkube.embedded import errors
from devkube.embedded import resources as r
from devkube.embedded.http.call import OPTIONS, Call
from devkube.embedded.http.codec import answer, media_type, parse, read_body
from devkube.embedded.http.reading import find, list_body
from devkube.embedded.objects import Obj, name_of, uid_of
from devkube.embedded.registry import DeleteOptions
from devkube.embedded.store import Entry
from devkube.embedded.strategies import strategy_of

PRESERVED = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set"
    " propagationPolicy=Orphan to suppress this warning"
)


async def delete(call: Call) -> Response:
    """DELETE one object."""
    target, registry = call.target, call.api.registry
    if target.part or target.resource.virtual:
        raise errors.method_not_allowed()
    options, dry_run = await _options(call)
    entry = registry.get(target.resource, target.namespace, target.name)
    last, gone = registry.delete(target.resource, entry, options, dry_run=dry_run)
    warnings = [PRESERVED] if target.resource is r.JOBS and not options.policy else []
    if gone and not strategy_of(target.resource).returns_deleted:
        return answer(_success(target.resource, last), 200, warnings)
    return answer(last, 200, warnings)


def _success(resource: r.Resource, obj: Obj) -> Obj:
    details = {"name": name_of(obj), "group": resource.group, "kind": resource.plural, "uid": uid_of(obj)}
    details = {key: value for key, value in details.items() if value}
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


async def delete_collection(call: Call) -> Response:
    """DELETE every matching object of a collection."""
    target, registry = call.target, call.api.registry
    if (
        target.resource.virtual
        or target.resource is r.NAMESPACES
        or (target.resource.namespaced and not target.namespace)
    ):
        raise errors.method_not_allowed()
    options, dry_run = await _options(call)
    entries, rv = find(call)
    removed: list[Entry] = []
    for entry in entries:
        present = registry.store.get(target.resource, *_key(entry))
        if present is not None and uid_of(present.obj) == uid_of(entry.obj):
            registry.delete(target.resource, present, options, dry_run=dry_run)
            removed.append(present)
    return answer(list_body(target.resource, rv, removed))


def _key(entry: Entry) -> tuple[str, str]:
    return entry.obj["metadata"].get("namespace", ""), name_of(entry.obj)


async def _options(call: Call) -> tuple[DeleteOptions, bool]:
    body = await read_body(call.request, 64 * 1024)
    given: Any = parse(body, media_type(call.request), strict=False) if body.strip() else {}
    if not isinstance(given, dict):
        raise errors.bad_request("DeleteOptions is not an object")
    grace = given.get("gracePeriodSeconds", call.whole("gracePeriodSeconds"))
    policy = given.get("propagationPolicy") or call.text("propagationPolicy")
    orphan = given.get("orphanDependents", call.flag("orphanDependents") if call.text("orphanDependents") else None)
    if orphan is not None and not policy:
        policy = "Orphan" if orphan else "Background"
    if grace is not None and (isinstance(grace, bool) or not isinstance(grace, int)):
        raise errors.bad_request("json: cannot unmarshal gracePeriodSeconds into a number of type int64")
    if policy not in ("", "Orphan", "Foreground", "Background"):
        cause = errors.unsupported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"])
        raise errors.invalid(OPTIONS["DELETE"], "", [cause])
    conditions = given.get("preconditions")
    conditions = conditions if isinstance(conditions, dict) else {}
    uid, version = str(conditions.get("uid") or ""), str(conditions.get("resourceVersion") or "")
    dry_run = call.dry_run or given.get("dryRun") == ["All"]
    return DeleteOptions(grace, policy, uid, version), dry_run
