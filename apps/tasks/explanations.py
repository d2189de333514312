"""A reason's token and numbers as a sentence in the reader's language, and what would help (domain.md §§7, 11)."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.kernel.quantities import format_cpu, format_memory
from apps.kernel.text import translated
from apps.tasks.domain.spec import Priority
from apps.tasks.domain.states import Reason
from apps.tasks.kinds.base import ContainerStatus
from apps.tasks.kinds.containers import QUIET_REASONS, START_FAULTS, bounded, told_by

Text = str | Promise

# For each token the fullest sentence first: the first whose every number is there is said.
SENTENCES: Mapping[str, tuple[Text, ...]] = {
    Reason.UNKNOWN_MARK: (_("No node has cards of the kind “{mark}”."), _("No node has cards of this kind.")),
    Reason.NO_CAPABLE_CLUSTER: (_("No cluster can run this kind of task with this card."),),
    Reason.CLUSTER_UNREACHABLE: (
        _("No cluster that fits answers: {clusters}."),
        _("No cluster that fits answers."),
    ),
    Reason.USER_QUOTA: (
        _("Your own quota of {resource} is used up: asked {asked}, held {used} of {limit}."),
        _("Your own quota is used up."),
    ),
    Reason.PROJECT_QUOTA: (
        _("The project's quota of {resource} is used up: asked {asked}, held {used} of {limit}."),
        _("The project's quota is used up."),
    ),
    Reason.POOL_FULL: (
        _("Pool {pool} on {cluster} has too little {resource} free: needs {needed}, free are {free}."),
        _("Every node that fits is taken."),
    ),
    Reason.FRAGMENTED: (
        _(
            "Pool {pool} on {cluster} has {free} {resource} free in all, but no single node has the {needed} that one "
            "instance needs; the most on one node are {largest}."
        ),
        _("Enough is free in all, but not on one node."),
    ),
    Reason.GANG_PARTIAL: (
        _("Only {fits} of {wanted} instances would fit on {cluster} now; they start together or not at all."),
        _("Not all instances would fit now; they start together or not at all."),
    ),
    Reason.PAUSED: (_("Paused; it holds nothing."),),
    Reason.SCALED_TO_ZERO: (_("Scaled to 0 instances."),),
    Reason.CREATING_OBJECTS: (_("The cluster is being told."),),
    Reason.UNSCHEDULABLE: (_("The cluster found no node for it yet."),),
    Reason.IMAGE_PULL: (_("The image of container {container} cannot be pulled."), _("The image cannot be pulled.")),
    Reason.STARTING: (_("Containers are starting."),),
    Reason.RESTARTING: (
        _("Attempt {attempt}: container {container} ended with exit code {exit_code} before."),
        _("Attempt {attempt}; an earlier one ended badly."),
        _("Trying again."),
    ),
    Reason.CRASH_LOOP: (
        _("Container {container} cannot start ({fault}): tried again {restarts} times."),
        _("Container {container} cannot start ({fault})."),
        _("Container {container} keeps crashing: exit code {exit_code}, {restarts} restarts."),
        _("Container {container} keeps crashing: exit code {exit_code}."),
        _("A container keeps crashing."),
    ),
    Reason.INIT_FAILED: (
        _("Init container {container} failed with exit code {exit_code}."),
        _("An init container failed."),
    ),
    Reason.CONTAINER_FAILED: (
        _("Container {container} failed with exit code {exit_code}."),
        _("A container failed."),
    ),
    Reason.OUT_OF_MEMORY: (
        _("Container {container} was killed: out of memory."),
        _("A container was killed: out of memory."),
    ),
    Reason.TERMINATING: (_("Ending; {pods} instances still hold their machine."), _("Ending.")),
    Reason.EVICTED: (_("The node put an instance out."),),
    Reason.PREEMPTED: (_("A task of higher priority took the place."),),
    Reason.DEADLINE: (_("Ran longer than the {seconds} s allowed."), _("Ran longer than allowed.")),
    Reason.BACKOFF_LIMIT: (
        _("Failed {failures} times, more often than allowed."),
        _("Failed more often than allowed."),
    ),
    Reason.UPDATE_STUCK: (
        _("The update is stuck at {updated} of {wanted}; {available} instances serve."),
        _("The update is stuck; the old instances serve."),
    ),
    Reason.REJECTED: (_("The cluster refused it."),),
    Reason.LOST: (_("Its objects are gone from the cluster."),),
    Reason.PENDING_TIMEOUT: (
        _("Waited {waited} s; its pending timeout allows {limit} s."),
        _("Waited longer than its pending timeout allows."),
    ),
    Reason.STOPPED_BY_USER: (_("Stopped by its owner."),),
    **dict.fromkeys(START_FAULTS, (_("Container {container} cannot start."), _("A container cannot start."))),
    "NodeLost": (_("Its node does not answer."),),
    "SchedulingGated": (_("Held back on the cluster by a gate."),),
    "Submitted": (_("Submitted."),),
    "Admitted": (_("Admitted to {cluster}, pool {pool}."), _("Admitted.")),
    "Renamed": (_("Renamed from {before} to {after}."), _("Renamed.")),
    "Scaled": (_("Scaled from {before} to {after} instances."), _("Scaled.")),
    "Edited": (_("Changed to revision {revision}."), _("Changed.")),
    "RolledBack": (_("Rolled back to revision {to} as revision {revision}."), _("Rolled back.")),
    "Pause": (_("Pause asked for."),),
    "Resume": (_("Resumed; back in the queue."),),
    "Restart": (_("Restart asked for."),),
    "Stop": (_("Stop asked for."),),
    "Delete": (_("Deleted."),),
    "Running": (_("Running."),),
    "Succeeded": (_("Succeeded; {evicted} instances were put out or displaced before."), _("Succeeded.")),
    "Failed": (_("Failed."),),
    "Stopped": (_("Stopped."),),
    "TakenBack": (
        _("The cluster {cluster} did not answer; queued again for any cluster."),
        _("Queued again for any cluster."),
    ),
    "PendingTimeoutSoon": (
        _("Has waited {waited} s; ends as failed after {limit} s."),
        _("Ends soon: it has waited almost as long as its pending timeout allows."),
    ),
}

ADVICE: Mapping[str, Text] = {
    Reason.UNKNOWN_MARK: _("Clone it with one of the marks on the page Resources."),
    Reason.NO_CAPABLE_CLUSTER: _("Choose another mark, or ask an administrator to add a cluster that has it."),
    Reason.CLUSTER_UNREACHABLE: _("It goes on by itself when the cluster answers; an administrator sees the fault."),
    Reason.USER_QUOTA: _("Stop or pause a task that holds it, ask for more quota, or submit in a project's name."),
    Reason.PROJECT_QUOTA: _("Stop or pause a task that holds it, or ask for more quota."),
    Reason.POOL_FULL: _("Fewer cards or another mark may start at once; see the page Resources."),
    Reason.FRAGMENTED: _("Fewer cards per instance on more instances may start at once."),
    Reason.GANG_PARTIAL: _("Fewer instances may start at once."),
    Reason.PAUSED: _("Resume it to queue again."),
    Reason.SCALED_TO_ZERO: _("Scale it up to serve again."),
    Reason.UNSCHEDULABLE: _("Check tolerations, affinity and node selector among the details."),
    Reason.IMAGE_PULL: _("Check the image's name and tag, and that the cluster may pull from its registry."),
    Reason.CRASH_LOOP: _("Read the container's last lines; then fix command, image or environment."),
    **dict.fromkeys(START_FAULTS, _("Check the command, the environment and what is mounted; the message says which.")),
    Reason.INIT_FAILED: _("Read the init container's lines."),
    Reason.CONTAINER_FAILED: _("Read the container's last lines, then clone with changes."),
    Reason.OUT_OF_MEMORY: _(
        "Give the container a larger share of the memory, or more cards, which bring memory along."
    ),
    Reason.DEADLINE: _("Clone it with a longer maximum run time."),
    Reason.BACKOFF_LIMIT: _("Read the last lines of the failed instances."),
    Reason.UPDATE_STUCK: _("Roll back, or correct the change; nothing was taken from the old instances that serve."),
    Reason.REJECTED: _("The cluster's message says what it will not take; clone with changes."),
    Reason.PENDING_TIMEOUT: _("Restart it with a longer pending timeout, or ask for less."),
}

PRIORITIES: Mapping[str, Text] = {
    Priority.HIGH: _("Runs only in the project's own pool; displaces nobody, is never displaced and holds no quota."),
    Priority.NORMAL: _("The project's own pool first, then public; holds quota in public; may displace low tasks."),
    Priority.LOW: _("Idle capacity only; holds no quota; may be displaced and then queues again."),
}

_FORMATS = {"cpu": format_cpu, "memory": format_memory}
_RESOURCES: Mapping[str, Text] = {"cpu": _("CPU"), "memory": _("memory")}
_AMOUNTS = frozenset({"asked", "needed", "used", "limit", "free", "largest"})


def _shown(numbers: Mapping[str, object]) -> dict[str, object]:
    """Numbers as people read them: amounts of cpu and memory with their units; text bounded, since pods wrote it."""
    resource = str(numbers.get("resource", ""))
    form = _FORMATS.get(resource)
    shown: dict[str, object] = {}
    for name, value in numbers.items():
        if form is not None and name in _AMOUNTS and isinstance(value, int):
            shown[name] = form(value)
        elif isinstance(value, list | tuple):
            shown[name] = bounded(", ".join(map(str, value)), 200)
        else:
            shown[name] = bounded(value, 200) if isinstance(value, str) else value
    if resource:
        shown["resource"] = str(_RESOURCES.get(resource, bounded(resource.removeprefix("cards:"), 200)))
    return shown


def _names(template: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(template) if name}


def _fullest(templates: Iterable[Text], numbers: Mapping[str, object]) -> str:
    for template in map(str, templates):
        if all(numbers.get(name) is not None for name in _names(template)):
            return template.format_map(numbers)
    return ""


def sentence(token: str, numbers: Mapping[str, object]) -> str:
    """The reason in the reader's language; a token of the cluster's own stands as itself, an empty one says nothing."""
    templates = SENTENCES.get(token)
    if templates is None:
        return bounded(token, 60)
    return _fullest(templates, _shown(numbers)) or str(templates[-1])


def advice(token: str) -> str:
    """What would help against the reason, or nothing."""
    return str(ADVICE.get(token, ""))


def reported(message: object, *ours: str) -> str:
    """The sentences, and after them the cluster's own words as they came; each left out where it is empty."""
    told = " ".join(part for part in ours if part)
    words = bounded(message) if isinstance(message, str) else ""
    return f"{told} – {words}" if told and words else told or words


def event_sentence(token: str, numbers: Mapping[str, object], text: str, *, by_cluster: bool) -> str:
    """What happened: a cluster's event in its own words, ours in the reader's language with the reason behind it."""
    if by_cluster:
        return text or sentence(token, numbers)
    reason = numbers.get("reason")
    behind = sentence(reason, numbers) if isinstance(reason, str) and reason != token else ""
    return reported(text, sentence(token, numbers), behind)


def instance_sentence(reason: str, containers: Iterable[Mapping[str, object]], message: str = "") -> str:
    """An instance's reason in the reader's language, naming its troubled containers (``Instance.containers`` rows)."""
    told = [translated(told_by(_container(row)), gettext) for row in containers if _troubled(row)]
    return reported(message, sentence(reason, {}), "; ".join(told))


def _troubled(row: Mapping[str, object]) -> bool:
    code = row.get("exit_code")
    held_up = row.get("state") == "waiting" and row.get("reason") not in QUIET_REASONS
    return held_up or (isinstance(code, int) and code != 0)


def _container(row: Mapping[str, object]) -> ContainerStatus:
    code, restarts = row.get("exit_code"), row.get("restarts")
    return ContainerStatus(
        name=bounded(str(row.get("name", "")), 63),
        state=str(row.get("state", "")),
        restarts=restarts if isinstance(restarts, int) else 0,
        exit_code=code if isinstance(code, int) else None,
        reason=bounded(str(row.get("reason", "")), 60),
        init=bool(row.get("init")),
        cause=bounded(str(row.get("cause", "")), 60),
    )


def priority_consequence(priority: str) -> str:
    """What a priority means for whoever picks it (domain.md §6)."""
    return str(PRIORITIES[priority])


def said(message: str) -> str:
    """A message of the domain's (a refusal's detail, a fault at a field) in the reader's language."""
    return translated(message, gettext)
