"""The same walk by script (rest.md)."""

from __future__ import annotations

import httpx

from tests.support.demo import Demo, a_task, lines_of, state_of, submitted, until


def a_service(name: str, nodes: int) -> dict[str, object]:
    script = "echo serving; while true; do sleep 1; done"
    container = {
        "name": "web",
        "image": "busybox:1.36",
        "command": ["sh", "-c", script],
        "cpu": "100m",
        "memory": "64Mi",
        "ports": [{"port": 8080, "name": "http"}],
    }
    cpu_only = {"mark": None, "cards_per_node": 0, "nodes": nodes}
    return a_task(name, script, kind="Deployment", resources=cpu_only, containers=[container])


def uids(caller: httpx.Client, pk: str) -> set[str]:
    rows = caller.get(f"/tasks/{pk}/instances").json()["results"]
    return {row["uid"] for row in rows if row["state"] == "running" and not row.get("gone_at")}


def test_a_job_runs_to_its_end_and_its_lines_outlive_the_pod(engineer: httpx.Client) -> None:
    pk = submitted(engineer, a_task("rest-job", "for i in $(seq 5); do echo epoch $i; sleep 0.2; done"))
    until(lambda: state_of(engineer, pk) == "succeeded", what="the job has succeeded")
    wanted = [f"epoch {number}" for number in range(1, 6)]
    until(lambda: lines_of(engineer, pk) == wanted, seconds=15, what="all lines in order")
    again = engineer.patch(f"/tasks/{pk}", json={"containers": [{"name": "main", "image": "other:1"}]})
    assert (again.status_code, again.json()["code"]) == (409, "immutable_field")


def test_a_deployment_scales_with_its_old_pods_kept_and_rolls_back(engineer: httpx.Client) -> None:
    pk = submitted(engineer, a_service("rest-service", 2))
    until(lambda: len(uids(engineer, pk)) == 2, what="two instances run")
    old = uids(engineer, pk)
    assert engineer.post(f"/tasks/{pk}/scale", json={"nodes": 5}).status_code == 202
    until(lambda: len(uids(engineer, pk)) == 5, what="five instances run")
    assert engineer.post(f"/tasks/{pk}/scale", json={"nodes": 2}).status_code == 202
    until(lambda: uids(engineer, pk) == old, what="the two old instances are left")
    task = engineer.get(f"/tasks/{pk}")
    wanted = task.json()["containers"]
    changed = [{**a_service("x", 2)["containers"][0], "image": "busybox:1.37"}]  # type: ignore[index] # built above
    assert wanted[0]["image"] == "busybox:1.36"
    edit = engineer.patch(f"/tasks/{pk}", json={"containers": changed}, headers={"If-Match": task.headers["ETag"]})
    assert edit.status_code == 200, edit.text
    until(lambda: state_of(engineer, pk) == "running", what="the update is done")
    assert uids(engineer, pk).isdisjoint(old)
    assert engineer.post(f"/tasks/{pk}/rollback", json={"revision": 1}).status_code == 202
    until(lambda: state_of(engineer, pk) == "running", what="the rollback is done")
    engineer.delete(f"/tasks/{pk}")


def test_a_double_submit_makes_one_task(engineer: httpx.Client) -> None:
    task = a_task("rest-twice", "true")
    answers = [engineer.post("/tasks", json=task, headers={"Idempotency-Key": "walk-1"}) for _ in range(2)]
    assert answers[0].json()["id"] == answers[1].json()["id"]
    assert answers[1].headers["Idempotency-Replayed"] == "true"


def test_a_viewer_reads_and_may_not_act(demo: Demo, engineer: httpx.Client) -> None:
    pk = submitted(engineer, a_task("rest-seen", "true"))
    with demo.as_role("viewer") as viewer:
        assert viewer.get(f"/tasks/{pk}").status_code == 200
        assert viewer.post(f"/tasks/{pk}/stop").status_code == 403
