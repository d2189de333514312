"""``{% load tasks %}``: a task's reason and its events as sentences."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext_lazy as _

from apps.tasks import explanations
from apps.tasks.models import Event, EventSource, Instance, Task
from apps.ui.text import visible

register = template.Library()
PRIORITIES = {"high": _("high"), "normal": _("normal"), "low": _("low")}
KIND_SENTENCES = {
    "Job": _("Runs its command to the end, once. After submission only its name may change; clone it to change more."),
    "Deployment": _("Keeps its instances running and begins them again; every change is rolled out and can be undone."),
}
KIND_ICONS = {"Job": "terminal-2", "Deployment": "network"}
SOURCES = {"platform": _("platform"), "cluster": _("cluster"), "person": _("person")}


@register.filter
def reason_sentence(task: Task) -> str:
    """Why the task is where it is, in one sentence with its numbers; empty where there is no reason."""
    return visible(explanations.sentence(task.reason, task.reason_numbers)) if task.reason else ""


@register.filter
def reason_advice(task: Task) -> str:
    """What would help against the task's present reason, or nothing."""
    return explanations.advice(task.reason)


@register.filter
def event_sentence(event: Event) -> str:
    """What happened, in one sentence; a cluster's own words stand as they came."""
    by_cluster = event.source == EventSource.CLUSTER
    return visible(explanations.event_sentence(event.token, event.numbers, event.text, by_cluster=by_cluster))


@register.filter
def reason_message(task: Task) -> str:
    """The cluster's own words behind the task's reason, or nothing."""
    return visible(str(task.reason_numbers.get("message") or ""))


@register.filter
def instance_sentence(instance: Instance) -> str:
    """Why an instance is where it is: in the reader's language, then the cluster's own words."""
    return visible(explanations.instance_sentence(instance.reason, instance.shown_containers, instance.message))


@register.filter
def ready_of(task: Task) -> str:
    """``3/5`` where a task has several instances, nothing for one."""
    return f"{task.nodes_ready}/{task.nodes}" if task.nodes > 1 else ""


@register.filter
def priority_word(priority: str) -> str:
    return str(PRIORITIES.get(priority, priority))


@register.filter
def source_word(source: str) -> str:
    return str(SOURCES.get(source, source))


@register.filter
def kind_sentence(kind: str) -> str:
    """What a kind is for; a kind that has no sentence of its own says nothing."""
    return str(KIND_SENTENCES.get(kind, ""))


@register.filter
def kind_icon(kind: str) -> str:
    return KIND_ICONS.get(kind, "box")


@register.filter
def kind_fields(kind: str) -> str:
    """The template with the fields that only this kind has."""
    return f"tasks/kinds/{kind.lower()}_fields.html"


@register.simple_tag
def access_choices() -> list[tuple[str, object]]:
    return [("yes", _("read only")), ("no", _("read and write"))]


@register.simple_tag
def preemption_choices() -> list[tuple[str, object]]:
    return [("requeue", _("queue again")), ("stop", _("stop"))]
