"""A task form's flat fields to the task spec as JSON, and back: the form has no rules of its own (rest.md, task spec).

Names are paths with hyphens: ``containers-0-image``, ``containers-0-env-1-name``, ``datasets-0-claim``. Rows keep
their number for life and a removed one carries ``DELETE``; so the order of numbers, not their value, is what counts.
A text that is no number goes on as text, for the strict reader to refuse under its path.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.kernel.text import say as _

Flat = Mapping[str, str]

PLAIN = ("kind", "display_name", "project", "priority", "shm", "pending_timeout", "max_runtime", "on_preemption")
WHOLE = ("backoff_limit", "min_available", "pre_stop_seconds")
MOST_ROWS = 500
_WHOLE = re.compile(r"^-?[0-9]{1,18}$")


@dataclass(slots=True)
class Form:
    """What the form says: ``wire`` for ``parse_spec``, faults found on the way, and each path's field name."""

    wire: dict[str, Any]
    faults: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)

    def field_of(self, path: str) -> str:
        """The form field that a fault's path belongs to: its own, or that of the nearest part around it."""
        while path:
            if path in self.fields:
                return self.fields[path]
            path = path.rpartition(".")[0]
        return ""


def read_form(flat: Flat) -> Form:
    """The task spec that the fields describe; what was left empty is left out."""
    form = Form({})
    for name in PLAIN:
        _put(form, form.wire, name, flat.get(name, "").strip(), path=name, field_name=name)
    for name in WHOLE:
        _put(form, form.wire, name, _number(flat.get(name, "")), path=name, field_name=name)
    resources: dict[str, Any] = {}
    _put(form, resources, "mark", flat.get("mark", "").strip(), path="resources.mark", field_name="mark")
    for name in ("cards_per_node", "nodes"):
        _put(form, resources, name, _number(flat.get(name, "")), path=f"resources.{name}", field_name=name)
    if not resources.get("mark"):
        resources.pop("cards_per_node", None)
    form.wire["resources"] = resources
    form.wire["containers"] = [
        _container(form, flat, row, place) for place, row in enumerate(_rows(flat, "containers"))
    ]
    form.fields["containers"] = "containers-0-name"
    datasets = [_dataset(form, flat, row, place) for place, row in enumerate(_rows(flat, "datasets"))]
    if datasets:
        form.wire["datasets"] = datasets
    labels = _pairs(form, flat, "labels", "labels")
    if labels:
        form.wire["labels"] = labels
    _advanced(form, flat.get("advanced", ""))
    return form


def _container(form: Form, flat: Flat, row: str, place: int) -> dict[str, Any]:
    path = f"containers.{place}"
    made: dict[str, Any] = {}
    for name in ("name", "image", "cpu", "memory"):
        given = flat.get(f"{row}-{name}", "").strip()
        _put(form, made, name, given, path=f"{path}.{name}", field_name=f"{row}-{name}")
    cards = _number(flat.get(f"{row}-cards", ""))
    _put(form, made, "cards", cards, path=f"{path}.cards", field_name=f"{row}-cards")
    for name in ("command", "args"):
        form.fields[f"{path}.{name}"] = f"{row}-{name}"
        try:
            words = shlex.split(flat.get(f"{row}-{name}", ""))
        except ValueError:
            form.faults[f"{row}-{name}"] = _("a quote is opened and never closed")
            continue
        if words:
            made[name] = words
    env = _pairs(form, flat, f"{row}-env", f"{path}.env")
    if env:
        made["env"] = env
    ports = [_port(form, flat, port, f"{path}.ports.{at}") for at, port in enumerate(_rows(flat, f"{row}-ports"))]
    if ports:
        made["ports"] = ports
    return made


def _port(form: Form, flat: Flat, row: str, path: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    _put(form, made, "port", _number(flat.get(f"{row}-port", "")), path=f"{path}.port", field_name=f"{row}-port")
    _put(form, made, "name", flat.get(f"{row}-name", "").strip(), path=f"{path}.name", field_name=f"{row}-name")
    return made


def _dataset(form: Form, flat: Flat, row: str, place: int) -> dict[str, Any]:
    made: dict[str, Any] = {"read_only": flat.get(f"{row}-read_only", "") != "no"}
    for name in ("claim", "mount_path"):
        given = flat.get(f"{row}-{name}", "").strip()
        _put(form, made, name, given, path=f"datasets.{place}.{name}", field_name=f"{row}-{name}")
    return made


def _pairs(form: Form, flat: Flat, group: str, path: str) -> dict[str, str]:
    """Rows of name and value to one object; a name given twice is a fault at its second row."""
    pairs: dict[str, str] = {}
    for row in _rows(flat, group):
        name = flat.get(f"{row}-name", "").strip()
        if name in pairs:
            form.faults[f"{row}-name"] = _("this name stands here twice")
        pairs[name] = flat.get(f"{row}-value", "")
        form.fields[f"{path}.{name}"] = f"{row}-name"
    return pairs


def _rows(flat: Flat, group: str) -> list[str]:
    """The prefixes of a group's rows in the order of their numbers; removed and wholly empty rows are left out."""
    pattern = re.compile(rf"^{re.escape(group)}-([0-9]{{1,6}})-(.+)$")
    filled: dict[int, bool] = {}
    removed: set[int] = set()
    for name, value in flat.items():
        matched = pattern.match(name)
        if matched is None:
            continue
        number = int(matched.group(1))
        if matched.group(2) == "DELETE":
            removed |= {number} if value else set()
        elif not matched.group(2).endswith(("read_only", "TOTAL_FORMS")):
            filled[number] = filled.get(number, False) or bool(value.strip())
    wanted = [
        number for number in sorted(filled) if number not in removed and (filled[number] or group == "containers")
    ]
    return [f"{group}-{number}" for number in wanted[:MOST_ROWS]]


def _advanced(form: Form, text: str) -> None:
    form.fields["advanced"] = "advanced"
    if not text.strip():
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        form.faults["advanced"] = _("this is not JSON")
        return
    form.wire["advanced"] = value


def _put(form: Form, into: dict[str, Any], name: str, value: object, *, path: str, field_name: str) -> None:
    form.fields[path] = field_name
    if value not in {"", None}:
        into[name] = value


def _number(text: str) -> int | str:
    stripped = text.strip()
    return int(stripped) if _WHOLE.match(stripped) else stripped


def write_form(wire: Mapping[str, Any]) -> dict[str, str]:
    """The fields that ``read_form`` reads back to the same spec: what a form for cloning or editing starts with."""
    resources = wire.get("resources") or {}
    flat = {name: _text(wire.get(name)) for name in (*PLAIN, *WHOLE)}
    flat |= {name: _text(resources.get(name)) for name in ("mark", "cards_per_node", "nodes")}
    for place, container in enumerate(wire.get("containers") or ()):
        flat |= _flat_container(f"containers-{place}", container)
    for place, mount in enumerate(wire.get("datasets") or ()):
        row = f"datasets-{place}"
        flat |= {f"{row}-claim": _text(mount.get("claim")), f"{row}-mount_path": _text(mount.get("mount_path"))}
        flat[f"{row}-read_only"] = "yes" if mount.get("read_only", True) else "no"
    flat |= _flat_pairs("labels", wire.get("labels") or {})
    advanced = wire.get("advanced")
    flat["advanced"] = json.dumps(advanced, indent=2, ensure_ascii=False) if advanced else ""
    return flat


def _flat_container(row: str, container: Mapping[str, Any]) -> dict[str, str]:
    flat = {f"{row}-{name}": _text(container.get(name)) for name in ("name", "image", "cpu", "memory", "cards")}
    for name in ("command", "args"):
        flat[f"{row}-{name}"] = shlex.join(map(str, container.get(name) or ()))
    flat |= _flat_pairs(f"{row}-env", container.get("env") or {})
    for at, port in enumerate(container.get("ports") or ()):
        flat |= {f"{row}-ports-{at}-port": _text(port.get("port")), f"{row}-ports-{at}-name": _text(port.get("name"))}
    return flat


def _flat_pairs(group: str, pairs: Mapping[str, str]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for at, (name, value) in enumerate(pairs.items()):
        flat |= {f"{group}-{at}-name": name, f"{group}-{at}-value": _text(value)}
    return flat


def _text(value: object) -> str:
    return "" if value is None else str(value)


def numbers_of(flat: Flat, group: str) -> Sequence[int]:
    """The numbers of a group's rows that a page shows again, removed ones left out."""
    return [int(row.rpartition("-")[2]) for row in _rows(flat, group)]
