"""What the cluster says, in our words: does waiting help?"""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from apps.clusters.gateway.kube.errors import error_for


def status(code: int, message: str, reason: str = "", **details: Any) -> bytes:
    return orjson.dumps({"kind": "Status", "code": code, "message": message, "reason": reason, "details": details})


RBAC = 'jobs.batch is forbidden: User "dev" cannot create resource "jobs" in API group "batch" in the namespace "p"'
QUOTA = 'jobs.batch "a" is forbidden: exceeded quota: jobs, requested: count/jobs.batch=1, used: 4, limited: 4'
WEBHOOK = 'admission webhook "policy.example" denied the request: image not allowed'
ENDING = 'jobs.batch "a" is forbidden: unable to create new content in namespace p because it is being terminated'
CLASS = 'pods "a" is forbidden: no PriorityClass with name default-pc was found'


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (400, "bad", "Rejected"),
        (401, "Unauthorized", "Forbidden"),
        (403, RBAC, "Forbidden"),
        (403, QUOTA, "Rejected"),
        (403, WEBHOOK, "Rejected"),
        (403, CLASS, "Rejected"),
        (403, ENDING, "Transient"),
        (404, "not found", "Gone"),
        (409, "exists", "Conflict"),
        (410, "too old", "Gone"),
        (422, "Invalid value", "Rejected"),
        (429, "slow down", "Transient"),
        (500, "etcd", "Transient"),
        (503, "starting", "Transient"),
    ],
)
def test_each_answer_has_one_meaning(code: int, message: str, expected: str) -> None:
    error = error_for(code, status(code, message))
    assert (type(error).__name__, error.message, error.status) == (expected, message, code)


def test_the_time_to_wait_comes_from_header_or_body() -> None:
    by_header = error_for(429, status(429, "slow down"), retry_after=7)
    by_body = error_for(429, status(429, "slow down", retryAfterSeconds=3))
    assert [vars(by_header)["retry_after"], vars(by_body)["retry_after"]] == [7, 3]


@pytest.mark.parametrize("body", [b"", b"<html>Bad gateway</html>", b"\xff\xfe", b"null", b"[]", b'{"message": null}'])
def test_a_body_that_is_no_status_is_still_an_error_of_ours(body: bytes) -> None:
    error = error_for(502, body)
    assert (type(error).__name__, bool(error.message), error.status) == ("Transient", True, 502)
