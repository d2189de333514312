"""What is asked before a verb that loses something, and what is said after it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from apps.tasks.domain.states import Verb
from apps.tasks.models import Task
from apps.tasks.services.changes import LARGEST_SCALE


def question(task: Task, verb: Verb) -> dict[str, Any]:
    """Title, what will be lost, and the label of the button, by name of the task."""
    name = {"name": task.display_name, "n": task.nodes_ready}
    texts = {
        Verb.RESTART: (
            _("Restart %(name)s?"),
            _("What runs now is ended and begun again. Unsaved work inside its containers is lost; logs stay."),
            _("Restart"),
        ),
        Verb.STOP: (
            _("Stop %(name)s?"),
            _("Its %(n)d running instances are ended with their grace period and its cards become free. Logs stay."),
            _("Stop"),
        ),
        Verb.DELETE: (
            _("Delete %(name)s?"),
            _("Its objects go from the cluster and it leaves the lists. Its history stays with the administrators."),
            _("Delete"),
        ),
    }
    title, loss, label = texts[verb]
    return {
        "task": task,
        "verb": verb.value,
        "title": title % name,
        "loss": loss % name,
        "label": label,
        "danger": verb is not Verb.RESTART,
    }


def done(verb: Verb) -> str:
    """What is said once the verb was taken; the cluster follows, the page shows it."""
    return {
        Verb.PAUSE: _("Pausing."),
        Verb.RESUME: _("Back in the queue."),
        Verb.RESTART: _("Restarting."),
        Verb.STOP: _("Stopping."),
        Verb.DELETE: _("Deleted."),
        Verb.SCALE: _("Scaling."),
        Verb.RENAME: _("Renamed."),
    }[verb]


def scale_question(task: Task, given: str | None) -> dict[str, Any]:
    return {"task": task, "nodes": task.nodes if given is None else given, "most": LARGEST_SCALE}


def whole(text: str) -> int:
    """A posted whole number; anything else is -1, which every service refuses in its own words."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
