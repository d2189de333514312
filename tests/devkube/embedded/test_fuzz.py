"""Whatever is sent, the answer is a Status or an object, and the controllers live on."""

from __future__ import annotations

import random
from typing import Any

from devkube.embedded import resources as r
from devkube.embedded import schema
from tests.devkube.embedded.kit import FakeKubelet, Kube, job, until

WORDS: tuple[Any, ...] = ("", "a", "In", "metadata.name", "nvidia.com/gpu", "50%", "1Gi", "-1", "x" * 300, "é\x00", "0")
SKIPPED = (r.NAMESPACES, r.NODES)
ROUNDS = 12


def grown(node: schema.Node, dice: random.Random, depth: int = 0) -> Any:
    """Return a value of roughly this type, with holes."""
    if depth > 9 or dice.random() < 0.03:
        return None
    if node.form == "object":
        keys = [key for key in node.fields if dice.random() < (0.9 if depth < 1 else 0.25)]
        return {key: grown(node.fields[key], dice, depth + 1) for key in keys}
    if node.form == "list" and node.item:
        return [grown(node.item, dice, depth + 1) for _ in range(dice.randint(0, 2))]
    if node.form == "map" and node.item:
        return {str(dice.choice(WORDS)): grown(node.item, dice, depth + 1) for _ in range(dice.randint(0, 2))}
    simple: dict[str, Any] = {"bool": dice.random() < 0.5, "time": "2026-12-01T00:00:00Z", "any": {}}
    if node.form in ("int32", "int64", "intstr"):
        return dice.choice((0, 1, -1, 7, 2**31 - 1))
    return simple.get(node.form, dice.choice(WORDS))


def test_random_objects_never_break_the_server(kube: Kube, kubelet: FakeKubelet) -> None:
    dice = random.Random(20261201)
    codes: set[int] = set()
    for resource in (each for each in r.NAMESPACED if each not in SKIPPED):
        root = (
            f"/{'apis' if resource.group else 'api'}/{resource.api_version}/namespaces/{kube.space}/{resource.plural}"
        )
        for number in range(ROUNDS):
            body = grown(schema.of_resource(resource), dice) or {}
            body |= {"kind": resource.kind, "apiVersion": resource.api_version}
            about = body["metadata"] if isinstance(body.get("metadata"), dict) else {}
            body["metadata"] = {key: about[key] for key in ("labels", "ownerReferences") if key in about}
            body["metadata"]["name"] = f"fuzz{number}"
            answer = kube.post(root, body)
            patched = kube.patch(f"{root}/fuzz{number}", {"spec": body.get("spec")}, "strategic")
            state = kube.patch(f"{root}/fuzz{number}/status", {"status": body.get("status")}, "merge")
            codes |= {answer.status_code, patched.status_code, state.status_code}
    assert max(codes) < 500
    kube.http.delete(kube.path("resourcequotas"))
    kube.make("jobs", job("after"))
    until(lambda: kube.get("jobs", "after")["status"].get("succeeded") == 1)


def test_random_patches_never_break_the_server(kube: Kube) -> None:
    dice = random.Random(7)
    kube.make("jobs", job("target", suspend=True))
    path = kube.path("jobs", "target")
    for kind in ("merge", "strategic", "json", "apply"):
        for _ in range(40):
            body: Any = {"spec": grown(schema.of_resource(r.JOBS).fields["spec"], dice)}
            if kind == "json":
                places = ("/spec", "/spec/template/spec/containers/-", "/metadata/labels/a~1b", "/x/y", "", "/spec/0")
                operations = ("add", "remove", "replace", "move", "copy", "test", "burn")
                body = [
                    {"op": dice.choice(operations), "path": dice.choice(places), "value": body["spec"], "from": "/spec"}
                ]
            if kind == "apply":
                body |= {"apiVersion": "batch/v1", "kind": "Job"}
            answer = kube.patch(path, body, kind, fieldManager="fuzz", force="true")
            assert answer.status_code < 500, (kind, body, answer.text)
