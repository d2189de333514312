"""The form and REST speak of the same task: a round trip through the form's fields changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.domain.formdata import numbers_of, read_form, write_form
from apps.tasks.domain.spec import TaskSpec
from apps.tasks.domain.wire import parse_spec, to_wire

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=20)
NAMES = st.from_regex(r"[A-Z][A-Z0-9_]{0,9}", fullmatch=True)


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    containers = [
        {
            "name": f"c{place}",
            "image": "registry/train:1",
            "command": draw(st.lists(WORDS, max_size=3)),
            "env": draw(st.dictionaries(NAMES, WORDS, max_size=3)),
            "cpu": draw(st.sampled_from(["4", "500m"])),
            "memory": "16Gi",
        }
        for place in range(draw(st.integers(1, 3)))
    ]
    return {
        "kind": draw(st.sampled_from(["Job", "Deployment"])),
        "display_name": "train-a",
        "project": draw(st.sampled_from([None, "map-team"])),
        "resources": draw(st.sampled_from([{}, {"mark": "rtx-4090", "cards_per_node": 2, "nodes": 3}])),
        "containers": containers,
        "shm": draw(st.sampled_from([None, "1Gi"])),
        "datasets": draw(st.sampled_from([[], [{"claim": "maps", "mount_path": "/data", "read_only": False}]])),
        "labels": draw(st.sampled_from([{}, {"team": "map"}])),
        "advanced": draw(st.sampled_from([{}, {"annotations": {"a": "1"}}])),
    }


@given(specs())
def test_a_spec_written_into_the_form_is_read_back_as_the_same_task(wire: dict[str, Any]) -> None:
    spec = parse_spec(wire)
    assert isinstance(spec, TaskSpec)
    assert parse_spec(read_form(write_form(to_wire(spec))).wire) == spec


@given(st.dictionaries(st.text(max_size=30), st.text(max_size=30), max_size=20))
def test_any_fields_at_all_are_read_without_failing(flat: dict[str, str]) -> None:
    assert read_form(flat).wire["resources"] is not None


def test_a_fault_is_found_at_its_field_though_rows_were_removed() -> None:
    form = read_form(
        {
            "containers-0-name": "gone",
            "containers-0-DELETE": "on",
            "containers-4-name": "main",
            "containers-4-cpu": "lots",
            "containers-4-env-2-name": "A",
            "containers-4-env-2-value": "1",
        }
    )
    fields = [
        form.field_of(path) for path in ("containers.0.cpu", "containers.0.env.A", "resources.mark", "containers")
    ]
    assert fields == ["containers-4-cpu", "containers-4-env-2-name", "mark", "containers-0-name"]


def test_what_cannot_be_put_into_json_is_a_fault_of_the_form() -> None:
    form = read_form(
        {
            "containers-0-command": "sh -c 'open",
            "containers-0-env-0-name": "A",
            "containers-0-env-0-value": "1",
            "containers-0-env-1-name": "A",
            "containers-0-env-1-value": "2",
            "advanced": "{",
        }
    )
    assert form.faults == {
        "containers-0-command": "a quote is opened and never closed",
        "containers-0-env-1-name": "this name stands here twice",
        "advanced": "this is not JSON",
    }


def test_a_fault_without_a_field_of_its_own_belongs_to_the_part_around_it_or_to_none() -> None:
    form = read_form({"mark": "rtx-4090", "advanced": "{}"})
    assert [form.field_of(path) for path in ("advanced.affinity.nodeAffinity", "colour")] == ["advanced", ""]


def test_ports_go_through_the_form_and_a_removed_row_is_not_shown_again() -> None:
    port = {"port": 8080, "name": "http"}
    flat = write_form({"containers": [{"name": "main", "image": "a", "ports": [port]}]})
    assert read_form(flat).wire["containers"][0]["ports"] == [port]
    assert numbers_of(
        {**flat, "containers-3-name": "x", "containers-4-name": "y", "containers-4-DELETE": "on"}, "containers"
    ) == [0, 3]
