"""How many pods each ReplicaSet of a Deployment is to have: the arithmetic of rolling updates. Pure."""

import hashlib
from collections.abc import Sequence

import orjson

from devkube.embedded.objects import Obj, annotations_of, copy, meta, name_of, spec, status
from devkube.embedded.rules.workloads import share

REVISION = "deployment.kubernetes.io/revision"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
HASH = "pod-template-hash"
_SAFE = "bcdfghjklmnpqrstvwxz2456789"


def bare_template(template: Obj) -> Obj:
    """Return a template without the hash label, for comparison."""
    bare = copy(template)
    labels = meta(bare).get("labels") or {}
    labels.pop(HASH, None)
    return bare


def template_hash(template: Obj, collisions: int) -> str:
    """Return the name suffix of a template."""
    digest = hashlib.blake2b(orjson.dumps([template, collisions], option=orjson.OPT_SORT_KEYS), digest_size=8).digest()
    number, letters = int.from_bytes(digest, "big"), ""
    for _ in range(10):
        number, at = divmod(number, len(_SAFE))
        letters += _SAFE[at]
    return letters


def rolling(deployment: Obj) -> bool:
    """True for the RollingUpdate strategy."""
    return bool(spec(deployment)["strategy"]["type"] == "RollingUpdate")


def bounds(deployment: Obj) -> tuple[int, int]:
    """Return (maxSurge, maxUnavailable) in pods."""
    if not rolling(deployment):
        return 0, 0
    rules, replicas = spec(deployment)["strategy"].get("rollingUpdate") or {}, spec(deployment)["replicas"]
    surge = share(rules.get("maxSurge", 0), replicas, up=True)
    unavailable = min(share(rules.get("maxUnavailable", 0), replicas, up=False), replicas)
    return (surge, 1) if surge == 0 and unavailable == 0 else (surge, unavailable)


def wanted(replica_set: Obj) -> int:
    """Return spec.replicas."""
    return int(spec(replica_set)["replicas"])


def available(replica_set: Obj) -> int:
    """Return status.availableReplicas."""
    return int(status(replica_set).get("availableReplicas", 0))


def revision_of(replica_set: Obj) -> int:
    """Return the revision written on a ReplicaSet, 0 when none."""
    text = annotations_of(replica_set).get(REVISION, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def new_size(deployment: Obj, new: Obj, everyone: Sequence[Obj]) -> int:
    """Return how many pods the new ReplicaSet gets in this step."""
    replicas = spec(deployment)["replicas"]
    if not rolling(deployment):
        return int(replicas)
    if wanted(new) >= replicas:
        return int(replicas)
    room = replicas + bounds(deployment)[0] - sum(wanted(each) for each in everyone)
    return wanted(new) if room <= 0 else min(wanted(new) + room, replicas)


def old_sizes(deployment: Obj, new: Obj, old: Sequence[Obj]) -> dict[str, int]:
    """Return the sizes of the old ReplicaSets that shrink in this step: broken pods first, then what may go."""
    least = spec(deployment)["replicas"] - bounds(deployment)[1]
    total = sum(wanted(each) for each in (*old, new))
    new_unavailable = wanted(new) - available(new)
    may_go = total - least - new_unavailable
    sizes = {name_of(each): wanted(each) for each in old}
    if may_go <= 0:
        return {}
    oldest_first = sorted(old, key=lambda each: str(meta(each).get("creationTimestamp", "")))
    for each in oldest_first:
        broken = min(may_go, max(sizes[name_of(each)] - available(each), 0))
        sizes[name_of(each)] -= broken
        may_go -= broken
    spare = sum(available(each) for each in (*old, new)) - least
    for each in oldest_first:
        step = min(spare, sizes[name_of(each)])
        if step > 0:
            sizes[name_of(each)] -= step
            spare -= step
    return {name_of(each): sizes[name_of(each)] for each in old if sizes[name_of(each)] != wanted(each)}


def proportional(deployment: Obj, sets: Sequence[Obj]) -> dict[str, int]:
    """Spread a changed number of replicas over the ReplicaSets of an unfinished update."""
    allowed = spec(deployment)["replicas"] + (bounds(deployment)[0] if spec(deployment)["replicas"] else 0)
    total = sum(wanted(each) for each in sets)
    left = allowed - total
    sizes = {name_of(each): wanted(each) for each in sets}
    largest_first = sorted(sets, key=lambda each: (-wanted(each), str(meta(each).get("creationTimestamp", ""))))
    for each in largest_first:
        if left == 0 or total == 0:
            break
        before = int(annotations_of(each).get(MOST, "0") or 0) or total
        change = round(wanted(each) * allowed / before) - wanted(each)
        change = max(min(change, left), 0) if left > 0 else min(max(change, left), 0)
        sizes[name_of(each)] = max(wanted(each) + change, 0)
        left -= sizes[name_of(each)] - wanted(each)
    if largest_first and left:
        first = name_of(largest_first[0])
        sizes[first] = max(sizes[first] + left, 0)
    return sizes


def complete(deployment: Obj, state: Obj) -> bool:
    """True when every wanted pod is of the new template and available, and no old one is left."""
    replicas = spec(deployment)["replicas"]
    keys = ("updatedReplicas", "replicas", "availableReplicas")
    return all(state.get(key, 0) == replicas for key in keys)
