"""How simulated pods live: kwok's Stage objects, written for pods that say themselves what they want to do.

A pod says it by an annotation or by an environment variable of one of its containers:

    devkube/starts-after  DEVKUBE_STARTS_AFTER  "2s": pending so long after being bound    (else it starts at once)
    devkube/runs-for      DEVKUBE_RUNS_FOR      "5s": ends after so long                   (else a Job's pod 1 s, others never)
    devkube/exit-code     DEVKUBE_EXIT_CODE     "1": how it ends                           (else 0)
    devkube/reason        DEVKUBE_REASON        "OOMKilled": why it ended                  (else Completed or Error)
    devkube/waiting       DEVKUBE_WAITING       "ImagePullBackOff": it never starts, and this is why
    devkube/stops-after   DEVKUBE_STOPS_AFTER   "3s": it goes on so long once deleted      (else it stops at once)
"""  # noqa: E501 - the table's right column

from __future__ import annotations

from pathlib import Path
from typing import Any

TEMPLATES = Path(__file__).with_name("pod_templates")
Obj = dict[str, Any]
DELETED = ".metadata.deletionTimestamp"
JOBS_POD = '(.metadata.ownerReferences[]? | select(.kind == "Job") | .kind)'


def stages() -> list[Obj]:
    """The stages of a pod, as kwok's configuration file holds them."""
    alive, pending = _absent(DELETED), _phase("Pending")
    running, over = _phase("Running"), _phase("Succeeded", "Failed")
    lasts = f"{setting('runs-for')} // {JOBS_POD}"
    waits, shown = setting("waiting"), ".status.containerStatuses"
    ended = {"statusTemplate": _template("ended")}
    return [
        _stage("start", [alive, pending, _absent(waits)], {"statusTemplate": _template("running")}, "starts-after"),
        _stage("wait", [alive, pending, _absent(shown), _present(waits)], {"statusTemplate": _template("waiting")}),
        # A machine that is back tells again what its pods do; meanwhile the cluster had them for not ready.
        _stage("return", [alive, running, _is("Ready", "False")], {"statusTemplate": _template("returned")}),
        _stage("end", [alive, running, _present(lasts)], ended, "runs-for", otherwise=1000),
        _stage("stop", [_present(DELETED), _phase("Pending", "Running")], ended, "stops-after"),
        # The Job controller counts a pod that ended and lets its finalizer go; only then is the pod really gone.
        _stage("delete", [_present(DELETED), over], {"delete": True}),
    ]


def setting(name: str) -> str:
    """The jq expression that finds what a pod says about `name`."""
    variable = "DEVKUBE_" + name.upper().replace("-", "_")
    environment = f'(.spec.containers[].env[]? | select(.name == "{variable}") | .value)'
    return f'.metadata.annotations["devkube/{name}"] // {environment}'


def _stage(name: str, requirements: list[Obj], following: Obj, delay: str = "", *, otherwise: int = 0) -> Obj:
    spec: Obj = {
        "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
        "selector": {"matchExpressions": requirements},
        "next": following,
    }
    if delay:
        spec["delay"] = {"durationMilliseconds": otherwise, "durationFrom": {"expressionFrom": setting(delay)}}
    meta = {"name": f"pod-{name}"}
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": meta, "spec": spec}


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.gotmpl").read_text()


def _present(key: str) -> Obj:
    return {"key": key, "operator": "Exists"}


def _absent(key: str) -> Obj:
    return {"key": key, "operator": "DoesNotExist"}


def _is(condition: str, status: str) -> Obj:
    key = f'.status.conditions[]? | select(.type == "{condition}") | .status'
    return {"key": key, "operator": "In", "values": [status]}


def _phase(*names: str) -> Obj:
    return {"key": ".status.phase", "operator": "In", "values": list(names)}
