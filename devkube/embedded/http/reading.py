"""GET: one object or a list of them."""

import orjson
from starlette.responses import Response

from devkube.embedded import errors
from devkube.embedded import resources as r
from devkube.embedded.http import snapshots, tables
from devkube.embedded.http.call import META, Call
from devkube.embedded.http.codec import answer
from devkube.embedded.http.scale import scale_of
from devkube.embedded.http.snapshots import Page
from devkube.embedded.objects import Obj
from devkube.embedded.selectors import matcher
from devkube.embedded.store import Entry


def get(call: Call) -> Response:
    """Answer with one object."""
    target = call.target
    if target.resource.virtual:
        raise errors.not_found(target.resource, target.name)
    entry = call.api.registry.get(target.resource, target.namespace, target.name)
    if target.part == "scale":
        return answer(scale_of(entry.obj))
    if target.part not in ("", "status"):
        raise errors.method_not_allowed()
    if tables.wanted(call.request.headers.get("accept", "")):
        return answer(tables.table(target.resource, [entry.obj], str(entry.rv), {}))
    return answer(entry.raw)


def find(call: Call) -> tuple[list[Entry], int]:
    """Return the matching entries and the version of the list."""
    target, store = call.target, call.api.registry.store
    if target.resource.virtual:
        return [], store.rv
    match = matcher(call.text("labelSelector"), call.text("fieldSelector"), target.resource)
    entries = store.entries(target.resource, target.namespace)
    return [entry for entry in entries if match is None or match(entry.obj)], store.rv


def check_version(call: Call) -> None:
    """Refuse resourceVersion and resourceVersionMatch that do not go together; raises ApiError 400, 422, 504."""
    version, match = call.text("resourceVersion"), call.text("resourceVersionMatch")
    if match and not version:
        why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise errors.invalid(META, "", [errors.refused("resourceVersionMatch", why)])
    if match not in ("", "Exact", "NotOlderThan"):
        cause = errors.unsupported("resourceVersionMatch", match, ["", "Exact", "NotOlderThan"])
        raise errors.invalid(META, "", [cause])
    if version and (not version.isascii() or not version.isdigit()):
        raise errors.bad_request(f'Invalid value: "{version[:50]}": strconv.ParseUint: invalid syntax')
    current = call.api.registry.store.rv
    if version and int(version) > current:
        message = f"Too large resource version: {version}, current: {current}"
        details = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
        raise errors.ApiError(504, "Timeout", f"Timeout: {message}", {**details, "retryAfterSeconds": 1}, 1)
    if match == "Exact" and int(version or 0) != current:
        raise errors.expired("The resourceVersion for the provided list is too old.")


def list_objects(call: Call) -> Response:
    """Answer with a list, cut into pages when a limit is given."""
    limit, token = call.whole("limit") or 0, call.text("continue")
    if token:
        page = call.api.snapshots.load(token)
        # Like etcd's, a list's moment is forgotten with the history of changes since.
        if (
            not call.target.resource.virtual
            and call.api.registry.store.changes_since(call.target.resource, page.rv) is None
        ):
            raise errors.expired(snapshots.TOO_OLD)
    else:
        check_version(call)
        entries, rv = find(call)
        page = Page(rv, entries)
    return answer(_page(call, page, limit))


def _page(call: Call, page: Page, limit: int) -> bytes:
    shown, rest = page.entries, []
    if 0 < limit < len(page.entries):
        shown, rest = page.entries[:limit], page.entries[limit:]
    more: Obj = {}
    if rest:
        more["continue"] = call.api.snapshots.save(Page(page.rv, rest))
        if not call.text("labelSelector") and not call.text("fieldSelector"):
            more["remainingItemCount"] = len(rest)
    if tables.wanted(call.request.headers.get("accept", "")):
        body = tables.table(call.target.resource, [entry.obj for entry in shown], str(page.rv), more)
        return orjson.dumps(body)
    return list_body(call.target.resource, page.rv, shown, more)


def list_body(resource: r.Resource, rv: int, entries: list[Entry], more: Obj | None = None) -> bytes:
    """Write a list; its items carry no kind of their own, as the API server's."""
    kind, version = resource.kind, resource.api_version
    skip = len(f'{{"kind":"{kind}","apiVersion":"{version}",')
    about = orjson.dumps({"resourceVersion": str(rv), **(more or {})}).decode()
    head = f'{{"kind":"{resource.list_kind}","apiVersion":"{version}","metadata":{about},"items":['
    return head.encode() + b",".join([b"{" + entry.raw[skip:] for entry in entries]) + b"]}\n"
