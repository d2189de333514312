"""What only pods can do: be bound, evicted, read from and entered."""

from urllib.parse import quote, urlencode

from starlette.responses import PlainTextResponse, Response, StreamingResponse

from devkube.embedded import errors
from devkube.embedded import resources as r
from devkube.embedded.disruption import check_eviction
from devkube.embedded.http.call import Call
from devkube.embedded.http.codec import answer, media_type, parse, read_body
from devkube.embedded.http.upstream import Upstream, UpstreamError
from devkube.embedded.objects import Obj, name_of, namespace_of, spec, status
from devkube.embedded.registry import DeleteOptions, Registry
from devkube.embedded.scheduler.binding import bind as bind_pod

LOG_FLAGS = ("follow", "timestamps", "previous", "insecureSkipTLSVerifyBackend")
LOG_NUMBERS = ("tailLines", "sinceSeconds", "limitBytes")


def created(code: int = 201) -> Response:
    """Answer that an action was done."""
    return answer({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}, code)


async def bind(call: Call) -> Response:
    """POST pods/NAME/binding."""
    body = parse(await read_body(call.request), media_type(call.request), strict=False)
    entry = call.api.registry.get(r.PODS, call.target.namespace, call.target.name)
    node = (body.get("target") or {}).get("name", "") if isinstance(body, dict) else ""
    if not isinstance(node, str) or not node:
        raise errors.bad_request("Binding: target.name: Required value")
    if spec(entry.obj).get("nodeName"):
        why = f'pod {name_of(entry.obj)} is already assigned to node "{spec(entry.obj)["nodeName"]}"'
        raise errors.conflict(r.Resource("", "v1", "pods/binding", "Binding", "", True), name_of(entry.obj), why)
    if not call.dry_run:
        bind_pod(call.api.registry, entry.obj, node)
    return created()


async def evict(call: Call) -> Response:
    """POST pods/NAME/eviction: delete unless a disruption budget forbids it (429)."""
    body = parse(await read_body(call.request), media_type(call.request), strict=False)
    if not isinstance(body, dict):
        raise errors.bad_request("Eviction is not an object")
    registry = call.api.registry
    entry = registry.get(r.PODS, call.target.namespace, call.target.name)
    given = body.get("deleteOptions")
    grace = given.get("gracePeriodSeconds") if isinstance(given, dict) else None
    options = DeleteOptions(grace if isinstance(grace, int) else None)
    check_eviction(registry, entry.obj, dry_run=call.dry_run)
    if not call.dry_run:
        present = registry.get(r.PODS, call.target.namespace, call.target.name)
        registry.delete(r.PODS, present, options)
    return created()


def container_of(pod: Obj, name: str) -> str:
    """Return the container meant, the only one when none is named; raises ApiError 400."""
    groups = ("initContainers", "containers", "ephemeralContainers")
    known = [str(each["name"]) for group in groups for each in spec(pod).get(group) or []]
    main = [str(each["name"]) for each in spec(pod).get("containers") or []]
    if name in known:
        return name
    if name:
        raise errors.bad_request(f"container {name[:100]} is not valid for pod {name_of(pod)}")
    if len(known) == 1:
        return main[0]
    default = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container", "")
    if default in main:
        return str(default)
    listed = f"choose one of: [{' '.join(main)}]"
    inits = [each for each in known if each not in main]
    if inits:
        listed += f" or one of the init containers: [{' '.join(inits)}]"
    raise errors.bad_request(f"a container name must be specified for pod {name_of(pod)}, {listed}")


def kubelet_of(registry: Registry, pod: Obj, container: str) -> tuple[str, int]:
    """Return host and port of the pod's node agent; raises ApiError 400, 404, 500."""
    node_name = spec(pod).get("nodeName", "")
    if not node_name:
        why = f"pod {name_of(pod)} does not have a host assigned"
        raise errors.bad_request(f'container "{container}" in {why}' if container else why)
    node = registry.get(r.NODES, "", node_name).obj
    port = ((status(node).get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port")
    hosts = [each["address"] for each in status(node).get("addresses") or [] if each.get("type") == "InternalIP"]
    if not port or not hosts:
        raise errors.ApiError(
            500, "InternalError", f"Internal error occurred: node {node_name} has no kubelet endpoint"
        )
    return str(hosts[0]), int(port)


def _log_query(call: Call) -> str:
    query: dict[str, str] = {key: "true" for key in LOG_FLAGS[:3] if call.flag(key)}
    for key in LOG_NUMBERS:
        value = call.whole(key)
        if value is not None:
            if value < (1 if key != "tailLines" else 0):
                cause = errors.bad_value(key, value, "must be greater than 0")
                raise errors.invalid(r.Resource("", "v1", "podlogoptions", "PodLogOptions", "", True), "", [cause])
            query[key] = str(value)
    if call.text("sinceTime"):
        query["sinceTime"] = call.text("sinceTime")
    if call.text("stream") in ("Stdout", "Stderr"):
        query["stream"] = call.text("stream")
    return urlencode(query)


async def log(call: Call) -> Response:
    """GET pods/NAME/log, passed through from the node as it comes."""
    pod = call.api.registry.get(r.PODS, call.target.namespace, call.target.name).obj
    container = container_of(pod, call.text("container"))
    query = _log_query(call)
    if not spec(pod).get("nodeName"):
        return PlainTextResponse("")  # as the API server has it: nowhere yet, so nothing said
    host, port = kubelet_of(call.api.registry, pod, container)
    path = "/".join(quote(part, safe="") for part in (namespace_of(pod), name_of(pod), container))
    target = f"/containerLogs/{path}" + (f"?{query}" if query else "")
    try:
        upstream = await Upstream.get(host, port, target, call.api.token)
    except UpstreamError as failed:
        why = f'Get "http://{host}:{port}{target}": {failed}'
        raise errors.ApiError(500, "InternalError", f"Internal error occurred: {why}") from failed
    if upstream.status == 200:
        return StreamingResponse(upstream.body(), media_type="text/plain")
    return _upstream_refusal(upstream.status, await upstream.text(2000))


def _upstream_refusal(code: int, text: str) -> Response:
    reasons = {400: "BadRequest", 404: "NotFound"}
    if code in reasons:
        raise errors.ApiError(code, reasons[code], text)
    return PlainTextResponse(text, code)
