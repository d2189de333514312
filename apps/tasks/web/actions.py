"""A task's verbs as buttons: allowed ones enabled, the others with the reason on hover."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.kernel.text import translated
from apps.organisations.domain.roles import Action as Right
from apps.organisations.domain.roles import may
from apps.tasks import access
from apps.tasks.domain.lifecycle import verb_faults
from apps.tasks.domain.spec import KindName
from apps.tasks.domain.states import Intent, State, Verb
from apps.tasks.kinds.registry import KINDS
from apps.tasks.models import Task
from apps.ui.panels import Action

BUTTONS = (
    (Verb.PAUSE, _("Pause"), "player-pause"),
    (Verb.RESUME, _("Resume"), "player-play"),
    (Verb.RESTART, _("Restart"), "rotate-2"),
    (Verb.STOP, _("Stop"), "player-stop"),
)
MENU = (
    (Verb.SCALE, _("Scale"), "scale"),
    (Verb.EDIT, _("Edit"), "edit"),
    (Verb.RENAME, _("Rename"), "tag"),
    (Verb.CLONE, _("Clone with changes"), "files"),
    (Verb.DELETE, _("Delete"), "trash"),
)


def may_act(user: User, task: Task) -> bool:
    """Whether the person may do anything to this task at all."""
    role = access.role_on(user, task)
    return may(role, Right.ACT_ON_TASKS, is_admin=user.is_superuser, is_auditor=user.is_auditor)


def actions(task: Task, user: User) -> dict[str, list[Action]]:
    """The buttons and the menu of a task's page; verbs that its kind does not know are left out."""
    kind = KINDS[KindName(task.kind)]
    faults = verb_faults(kind=kind, state=State(task.state), intent=Intent(task.intent))
    hidden = {Verb.PAUSE} if task.intent == Intent.PAUSE else {Verb.RESUME}
    reader = "" if may_act(user, task) else str(_("Your role here lets you read, not act."))
    shown = kind.verbs - hidden
    return {
        group: [
            _action(task, verb, str(label), icon, reader or translated(faults.get(verb) or "", gettext))
            for verb, label, icon in verbs
            if verb in shown
        ]
        for group, verbs in (("buttons", BUTTONS), ("menu", MENU))
    }


def _action(task: Task, verb: Verb, label: str, icon: str, fault: str) -> Action:
    url = reverse(f"tasks:task-{verb.value}", args=[task.pk])
    return Action(verb.value, label, icon, url, fault=fault, danger=verb in {Verb.STOP, Verb.DELETE})
