"""Logs and exec, passed through to a played node agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from kubernetes import client
from kubernetes.stream import stream
from websockets.sync.server import ServerConnection, serve

from tests.devkube.embedded.agent_stub import LogServer
from tests.devkube.embedded.kit import Kube, node, pod


@pytest.fixture
def logs(kube: Kube) -> Iterator[LogServer]:
    with LogServer() as server:
        place(kube, server.port)
        yield server


def place(kube: Kube, port: int) -> None:
    """Put a pod on a node whose agent listens at `port`."""
    body = node(f"{kube.space}-agent", labels={"agent": kube.space})
    body["status"] |= {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    assert kube.post("/api/v1/nodes", body).status_code == 201
    kube.make("pods", pod("talks", nodeName=f"{kube.space}-agent"))


def test_passes_the_question_for_a_log_on_and_the_answer_back(kube: Kube, logs: LogServer) -> None:
    query = {"tailLines": "5", "timestamps": "true", "sinceSeconds": "60", "container": "main"}
    answer = kube.http.get(f"{kube.path('pods', 'talks')}/log", params=query)
    assert (answer.status_code, answer.text) == (200, "line 1\nline 2\n")
    assert logs.asked == [f"/containerLogs/{kube.space}/talks/main?timestamps=true&tailLines=5&sinceSeconds=60"]


def test_a_followed_log_arrives_line_by_line(kube: Kube, logs: LogServer) -> None:
    with kube.http.stream("GET", f"{kube.path('pods', 'talks')}/log", params={"follow": "true"}) as answer:
        lines = answer.iter_lines()
        assert next(lines) == "line 1"
        logs.go_on.set()
        assert list(lines) == ["line 2"]


def test_says_why_there_is_no_log(kube: Kube, logs: LogServer) -> None:
    path = f"{kube.path('pods', 'talks')}/log"
    wrong = kube.http.get(path, params={"container": "none"})
    assert (wrong.status_code, wrong.json()["message"]) == (400, "container none is not valid for pod talks")
    kube.make("pods", pod("early", nodeSelector={"no": "where"}))
    early = kube.http.get(f"{kube.path('pods', 'early')}/log")
    assert (early.status_code, early.text) == (200, "")
    assert kube.http.get(path, params={"tailLines": "-1"}).status_code == 422
    logs.__exit__(None, None, None)
    assert kube.http.get(path).status_code == 500


def echo(socket: ServerConnection) -> None:
    """Play `cat`: what comes on channel 0 goes out on channel 1."""
    for message in socket:
        if isinstance(message, bytes) and message[:1] == b"\x00":
            socket.send(b"\x01" + message[1:])
            socket.send(b"\x03" + b'{"status":"Success"}')
            return


def test_exec_joins_client_and_node(kube: Kube, official: client.ApiClient) -> None:
    with serve(echo, "127.0.0.1", 0, subprotocols=["v5.channel.k8s.io", "v4.channel.k8s.io"]) as server:  # type: ignore[list-item] # plain names serve
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        place(kube, server.socket.getsockname()[1])
        own = client.ApiClient(official.configuration)
        session = stream(
            client.CoreV1Api(own).connect_get_namespaced_pod_exec,
            "talks",
            kube.space,
            command=["cat"],
            stdin=True,
            stdout=True,
            stderr=True,
            _preload_content=False,
        )
        session.write_stdin("hello")
        session.run_forever(timeout=5)
        said = session.read_stdout()
        session.close()
        server.shutdown()
    assert said == "hello"
