"""What Kubernetes refuses in a manifest that a person brings along, said before any cluster is asked.

Source: Kubernetes' validation as tried on a real API server; Seed A's sample Job fails here, and so it does there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from apps.kernel.errors import Code, Refusal
from apps.kernel.quantities import QuantityError, parse_count, parse_cpu, parse_memory
from apps.kernel.text import say as _

_RESTARTS_OF_JOBS = ("Never", "OnFailure")


def _inner(value: object, *path: str) -> Mapping[str, object]:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _amount(name: str, given: object) -> int:
    """Millicores, MiB or pieces; raises QuantityError for what is no quantity."""
    text = str(given) if isinstance(given, (str, int)) and not isinstance(given, bool) else ""
    if name == "cpu":
        return parse_cpu(text)
    return parse_memory(text) if name in {"memory", "ephemeral-storage"} else parse_count(text)


def _overcommittable(name: str) -> bool:
    return "/" not in name


def _resource_faults(container: Mapping[str, object], path: str) -> Iterator[tuple[str, str]]:
    limits, requests = _inner(container, "resources", "limits"), _inner(container, "resources", "requests")
    for name, asked in requests.items():
        at = f"{path}.resources.requests.{name}"
        try:
            request, limit = _amount(name, asked), _amount(name, limits[name]) if name in limits else None
        except QuantityError as error:
            yield at, error.args[0]
            continue
        if limit is None:
            if not _overcommittable(name):
                yield at, _("a limit is needed for %(resource)s", resource=name)
        elif not _overcommittable(name) and request != limit:
            yield at, _("must equal the limit of %(limit)s", limit=str(limits[name]))
        elif request > limit:
            yield at, _("%(asked)s is above the limit of %(limit)s", asked=str(asked), limit=str(limits[name]))


def manifest_refusal(manifest: Mapping[str, object]) -> Refusal | None:
    """Every fault of a workload's pod template under its path in the manifest, or None."""
    pod = _inner(manifest, "spec", "template", "spec")
    containers = pod.get("containers")
    faults: dict[str, list[str]] = {}
    if not isinstance(containers, Sequence) or isinstance(containers, str) or not containers:
        faults["spec.template.spec.containers"] = [_("at least one container is needed")]
        containers = ()
    if manifest.get("kind") == "Job" and pod.get("restartPolicy") not in _RESTARTS_OF_JOBS:
        faults["spec.template.spec.restartPolicy"] = [_("must be Never or OnFailure")]
    for place, container in enumerate(containers):
        for path, message in _resource_faults(
            _inner({"it": container}, "it"), f"spec.template.spec.containers.{place}"
        ):
            faults.setdefault(path, []).append(message)
    if not faults:
        return None
    path, messages = next(iter(faults.items()))
    return Refusal(Code.INVALID, _("%(path)s: %(message)s", path=path, message=messages[0]), faults)
