"""The create and edit form: its start values, its rows, its locks; its rules are the task spec's (tasks.domain)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from apps.accounts.models import User
from apps.kernel.errors import Code, Refusal
from apps.organisations.access import visible_projects
from apps.organisations.domain.roles import ALLOWED, Action
from apps.organisations.models import Project
from apps.quotas import selectors as quotas
from apps.tasks import selectors
from apps.tasks.domain.formdata import Form, numbers_of, read_form
from apps.tasks.domain.spec import KindName, Priority, TaskSpec
from apps.tasks.domain.wire import parse_spec
from apps.tasks.kinds.base import Kind
from apps.tasks.web.field_words import FIELD_WORDS
from apps.ui.fields import FieldForm
from apps.ui.scope import ME
from apps.ui.text import cores, memory

BLANK = {
    "kind": KindName.JOB.value,
    "priority": Priority.NORMAL.value,
    "nodes": "1",
    "cards_per_node": "1",
    "pending_timeout": "30m",
    "on_preemption": "requeue",
    "containers-0-name": "main",
}
STARTS: dict[str, dict[str, str]] = {
    "command": {
        "display_name": "hello",
        "containers-0-image": "busybox:1.36",
        "containers-0-command": "sh -c 'for i in $(seq 20); do echo epoch $i; sleep 1; done'",
    },
    "service": {
        "kind": KindName.DEPLOYMENT.value,
        "display_name": "web",
        "nodes": "2",
        "containers-0-image": "python:3.12-slim",
        "containers-0-command": "python -m http.server 8080",
        "containers-0-ports-0-port": "8080",
        "containers-0-ports-0-name": "http",
    },
}
PRIORITIES = (
    ("high", _lazy("high"), _lazy("Only in the project's own pool; holds no quota; nobody takes its place.")),
    ("normal", _lazy("normal"), _lazy("Holds quota from now on; may take the place of low tasks in the public pool.")),
    (
        "low",
        _lazy("low"),
        _lazy("Only on idle machines; holds no quota; a normal task may take its place at any time."),
    ),
)
NOT_OF_THE_SPEC = frozenset({"csrfmiddlewaretoken", "version", "submission", "do", "yaml"})
LONGEST_VALUE = 100_000
RESOURCES = frozenset({"mark", "cards_per_node", "nodes"})


@dataclass(frozen=True, slots=True)
class Row:
    """One container of the form with its own rows."""

    prefix: str
    env: tuple[str, ...]
    ports: tuple[str, ...]


def start_values(start: str, *, scope: str, mark: str) -> dict[str, str]:
    """What an empty form begins with; a starting point comes filled with something that works."""
    project = "" if scope == ME else scope
    size = {"mark": mark} if start in {"", "command"} else {"mark": "", "cards_per_node": ""}
    sized_by_cpu = {} if size["mark"] else {"containers-0-cpu": "1", "containers-0-memory": "1Gi"}
    return BLANK | {"project": project} | size | sized_by_cpu | STARTS.get(start, {})


def posted(data: QueryDict) -> dict[str, str]:
    """The spec's fields as they were sent, each bounded."""
    return {name: str(value)[:LONGEST_VALUE] for name, value in data.items() if name not in NOT_OF_THE_SPEC}


def filled(values: Mapping[str, str]) -> FieldForm:
    """A task form with these values, whose summary speaks of its fields by their labels."""
    return FieldForm(values, words=FIELD_WORDS)


def check_form(values: Mapping[str, str], *, form: FieldForm) -> TaskSpec | None:
    """The spec that the fields describe, or None with every message put at its field."""
    read = read_form(values)
    for name, message in read.faults.items():
        form.add(name, [message])
    spec = parse_spec(read.wire)
    if isinstance(spec, Refusal):
        place_refusal(spec, read, form)
        return None
    return None if read.faults else spec


def place_refusal(refusal: Refusal, read: Form, form: FieldForm) -> None:
    """A refusal's messages at the fields they belong to; what belongs to none stands above the form."""
    for path, messages in refusal.fields.items():
        form.add(read.field_of(path), messages)
    if not refusal.fields or refusal.code is Code.QUOTA_EXCEEDED:
        form.add("", [refusal.detail])


def locked_by(kind: Kind) -> FieldForm:
    """An empty form whose locks say why a field of this kind's task may not be changed any more."""

    def why(name: str) -> str:
        top = "resources" if name in RESOURCES else name.partition("-")[0]
        if top in kind.mutable_fields or name in kind.mutable_fields:
            return ""
        return _("A %(kind)s runs as it was submitted. Use “clone with changes”.") % {"kind": kind.name}

    return FieldForm({}, lock=why, words=FIELD_WORDS)


def refuse_locked(sent: Mapping[str, str], present: Mapping[str, str], form: FieldForm) -> bool:
    """Whether a locked field was sent with another value than it has; each such field says why it is locked."""
    tried = [
        name
        for name, value in sent.items()
        if form.lock(name) and name.rpartition("-")[2] != "TOTAL_FORMS" and _plain(value) != present.get(name, "")
    ]
    for name in tried:
        form.add(name, [form.lock(name)])
    return bool(tried)


def _plain(text: str) -> str:
    """Browsers send line ends as CR LF."""
    return text.replace("\r\n", "\n")


def form_context(form: FieldForm, user: User) -> dict[str, Any]:
    """Everything the form's template needs, in a fixed number of queries."""
    values = form.values
    numbers = list(numbers_of(values, "containers")) or [0]
    marks = selectors.mark_facts()
    return {
        "form": form,
        "faults": form.faults(),
        "containers": [_row(values, number) for number in numbers],
        "next_container": max(numbers) + 1,
        "blank_row": Row("containers-__container__", (), ()),
        "datasets": [f"datasets-{number}" for number in numbers_of(values, "datasets")],
        "labels": [f"labels-{number}" for number in numbers_of(values, "labels")],
        "projects": [("", _("in my own name"))] + [(row.slug, row.name) for row in may_submit_in(user)],
        "marks": [("", _("no card: CPU only"))]
        + [
            (mark, _mark_label(facts.label or mark, facts.cpu_per_card, facts.memory_per_card))
            for mark, facts in marks.items()
        ],
        "kinds": list(KindName),
        "priorities": PRIORITIES,
    }


def _mark_label(label: str, cpu: int, size: int) -> str:
    return _("%(label)s (%(cores)s cores, %(memory)s a card)") % {
        "label": label,
        "cores": cores(cpu),
        "memory": memory(size),
    }


def _row(values: Mapping[str, str], number: int) -> Row:
    prefix = f"containers-{number}"
    env, ports = (
        tuple(f"{prefix}-{group}-{at}" for at in numbers_of(values, f"{prefix}-{group}")) for group in ("env", "ports")
    )
    return Row(prefix, env, ports)


def may_submit_in(user: User) -> list[Project]:
    """The Projects in whose name the person may submit."""
    projects = visible_projects(user).order_by("name")
    if user.is_superuser:
        return list(projects[:500])
    acting = [role.value for role, actions in ALLOWED.items() if Action.ACT_ON_TASKS in actions]
    return list(projects.filter(memberships__user=user, memberships__role__in=acting).distinct()[:500])


def beginning_scope_and_mark(user: User, chosen: str) -> tuple[str, str]:
    """What a new form begins with: the scope switch's scope, else the first project; a kind of card it has quota of."""
    projects = {project.slug: project for project in may_submit_in(user)}
    scope = chosen if chosen == ME or chosen in projects else next(iter(projects), ME)
    standings = quotas.standings(projects.get(scope), user)
    marks = sorted(selectors.mark_facts())
    room = [mark for mark in marks if (found := standings.get(f"cards:{mark}")) and found.limit > found.used]
    return scope, max(room, key=lambda mark: standings[f"cards:{mark}"].limit, default=next(iter(marks), ""))
