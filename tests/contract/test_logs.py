"""Logs as an API server serves them, of containers that ran: tail, limit, since, the try before, time stamps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.clusters.gateway.port import ClusterGateway, LogQuery, ObjectRef, Rejected, Resource
from tests.contract.cases import NAMESPACE, pod
from tests.contract.depths import Depth, Server
from tests.contract.machines import speaking
from tests.contract.waiting import present, until

P = ObjectRef(Resource.POD, "p", NAMESPACE)
COUNTS = "for word in one two three; do echo $word; done; "
STAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d) ")


@pytest.fixture
def machine(depth: Depth, server: Server, service_account: None) -> Iterator[None]:
    """A machine of the cluster that runs commands."""
    with server.machine():
        until(
            lambda: any(_ready(item) for item in depth.gateway.list(Resource.NODE, selector="contract/machine").items)
        )
        yield
        depth.gateway.delete(P, grace_seconds=0)
    depth.gateway.delete(ObjectRef(Resource.NODE, "machine"))


def _ready(node: Any) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def lines(gateway: ClusterGateway, **asked: Any) -> list[str]:
    text = b"".join(gateway.logs(LogQuery(P, asked.pop("container", "main"), **asked))).decode()
    return [STAMP.sub("", line) for line in text.splitlines()]


def container_of(gateway: ClusterGateway) -> Any:
    found = (present(gateway, P).get("status") or {}).get("containerStatuses") or [{}]
    return found[0]


def test_a_log_is_read_as_it_is_asked_for(gateway: ClusterGateway, machine: None) -> None:
    gateway.create(Resource.POD, speaking("p", NAMESPACE, COUNTS, restartPolicy="Never"))
    until(lambda: "terminated" in (container_of(gateway).get("state") or {}))
    text = b"".join(gateway.logs(LogQuery(P, "main"))).decode()
    assert all(STAMP.match(line) for line in text.splitlines())
    assert lines(gateway) == ["one", "two", "three"]
    assert (lines(gateway, tail_lines=1), lines(gateway, tail_lines=0)) == (["three"], [])
    assert len(b"".join(gateway.logs(LogQuery(P, "main", limit_bytes=7)))) == 7
    told = datetime.fromisoformat(text.split(" ", 1)[0][:19] + "+00:00")
    later, earlier = told + timedelta(hours=1), told - timedelta(hours=1)
    assert (lines(gateway, since=later), lines(gateway, since=earlier)) == ([], ["one", "two", "three"])
    with pytest.raises(Rejected, match="container nobody is not valid for pod p"):
        lines(gateway, container="nobody")
    with pytest.raises(Rejected, match="previous terminated container"):
        lines(gateway, previous=True)


def test_the_log_of_the_try_before_is_kept(gateway: ClusterGateway, machine: None) -> None:
    gateway.create(Resource.POD, speaking("p", NAMESPACE, f"{COUNTS} sleep 0.2; exit 1", restartPolicy="Always"))
    until(lambda: int(container_of(gateway).get("restartCount") or 0) >= 1)
    assert lines(gateway, previous=True) == ["one", "two", "three"]


def test_the_log_of_a_pod_that_has_no_node_yet_is_empty(
    gateway: ClusterGateway, server: Server, service_account: None
) -> None:
    gateway.create(Resource.POD, pod("p", schedulerName="nobody"))
    assert lines(gateway) == []
