"""deploy/rbac/platform.yaml: the rules are those that the platform asks for, each with its reason beside it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from apps.clusters import services
from apps.clusters.domain.checklist import Verdict, verdict
from apps.clusters.domain.kubeconfig import Chosen, read_kubeconfig
from apps.clusters.domain.rights import NEEDED_RIGHTS, Right
from apps.kernel.clock import now
from devkube.real.control_plane import ControlPlane
from tests.support.kubernetes import leave_out, plane, tools  # noqa: F401 - fixtures

FOLDER = Path(__file__).resolve().parents[3] / "deploy" / "rbac"
FILE = FOLDER / "platform.yaml"


@pytest.fixture(scope="module")
def objects() -> dict[str, Any]:
    return {item["kind"]: item for item in YAML(typ="safe", pure=True).load_all(FILE.read_text())}


def granted(role: dict[str, Any]) -> Iterator[Right]:
    for rule in role["rules"]:
        assert set(rule) == {"apiGroups", "resources", "verbs"}
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                yield from (Right(verb, group, resource) for verb in rule["verbs"])


def test_the_role_grants_what_is_asked_for_and_nothing_more(objects: dict[str, Any]) -> None:
    found = list(granted(objects["ClusterRole"]))
    assert (sorted(map(str, found)), len(found)) == (sorted(map(str, NEEDED_RIGHTS)), len(set(found)))
    assert set(found) == set(NEEDED_RIGHTS)


def test_every_verb_of_a_rule_is_accounted_for_in_the_comment_above_it() -> None:
    text = FILE.read_text().partition("rules:\n")[2].partition("---")[0]
    rules = re.findall(r"((?:  #.*\n)+)  - apiGroups: .*\n    resources: \[(\w+)\]\n    verbs: \[(.*)\]\n", text)
    missing = [
        (resource, verb)
        for comment, resource, verbs in rules
        for verb in verbs.split(", ")
        if not re.search(rf"\b{verb}\b[\w, ]*:", comment)
    ]
    assert (missing, len(rules)) == ([], len({(right.group, right.resource) for right in NEEDED_RIGHTS}))


def test_the_account_the_token_and_the_binding_belong_together(objects: dict[str, Any]) -> None:
    account, secret, binding = (objects[kind] for kind in ("ServiceAccount", "Secret", "ClusterRoleBinding"))
    place = {"name": account["metadata"]["name"], "namespace": objects["Namespace"]["metadata"]["name"]}
    assert account["metadata"] == place
    assert secret["metadata"]["annotations"] == {"kubernetes.io/service-account.name": place["name"]}
    assert binding["subjects"] == [{"kind": "ServiceAccount", **place}]
    assert binding["roleRef"]["name"] == objects["ClusterRole"]["metadata"]["name"]


def ran(words: list[str], environment: dict[str, str]) -> str:
    """What the command prints."""
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.mark.kubernetes
@pytest.mark.django_db
def test_the_readmes_commands_make_a_kubeconfig_that_is_taken_on_a_real_cluster(plane: ControlPlane) -> None:  # noqa: F811 - the fixture
    if shutil.which("kubectl") is None:
        leave_out("kubectl is not installed")
    with_plane = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}
    ran(["kubectl", "apply", "-f", str(FILE)], with_plane)
    made = ran(["sh", str(FOLDER / "kubeconfig.sh")], with_plane)
    found = read_kubeconfig(made, now=now())
    assert isinstance(found, Chosen), found
    checks = services.examine(found.sign_in, now=now())
    faults = [(row.name, row.token) for row in checks if row.state.value == "fault"]
    assert (verdict(checks), faults) == (Verdict.FITS, [])
    assert sum(row.token == "allowed" for row in checks) == len(NEEDED_RIGHTS)
