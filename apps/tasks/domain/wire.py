"""The task spec as JSON: read strictly, written back exactly, patched (rest.md, task spec)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.kernel.errors import Refusal
from apps.kernel.names import display_name_fault
from apps.kernel.quantities import format_cpu, format_memory, parse_cpu, parse_memory
from apps.kernel.resources import Cards
from apps.kernel.text import say as _
from apps.tasks.domain.advanced import read_advanced
from apps.tasks.domain.reading import Faults, Fields, duration_text
from apps.tasks.domain.shapes import (
    claim_fault,
    container_name_fault,
    env_name_fault,
    image_fault,
    label_key_fault,
    label_value_fault,
    mount_path_fault,
    plain_path,
    port_name_fault,
)
from apps.tasks.domain.spec import (
    DEFAULT_PENDING_TIMEOUT,
    ContainerSpec,
    DatasetMount,
    KindName,
    OnPreemption,
    Port,
    Priority,
    ResourceRequest,
    TaskSpec,
)

MOST_CONTAINERS = 20
MOST_NODES = 10_000
MOST_CARDS = 10_000
MOST_ENV = 200
MOST_ENV_BYTES = 32 * 1024
MOST_WORDS = 200
MOST_COMMAND_CHARACTERS = 64 * 1024
LONGEST_IMAGE = 500
SHM_PATH = "/dev/shm"  # noqa: S108 -- the mount point inside a container, no temporary file of ours


def _env_value(_value: str) -> str | None:
    return None


def _port(fields: Fields) -> Port:
    if fields.raw("port") is None:
        fields.fault("port", _("is needed"))
    port = Port(
        fields.whole("port", 0, low=1, high=65_535),
        fields.text("name", longest=15, check=lambda name: port_name_fault(name) if name else None),
    )
    fields.close()
    return port


def _words(fields: Fields, name: str) -> tuple[str, ...]:
    words = fields.texts(name, most=MOST_WORDS, longest=MOST_COMMAND_CHARACTERS)
    if sum(map(len, words)) > MOST_COMMAND_CHARACTERS:
        fields.fault(name, _("together at most %(most)d characters", most=MOST_COMMAND_CHARACTERS))
    return words


def _cards(fields: Fields) -> Cards | None:
    if fields.raw("cards") is None:
        return None
    return Cards(fields.whole("cards", 0, low=0, high=MOST_CARDS))


def _container(fields: Fields) -> ContainerSpec:
    container = ContainerSpec(
        name=fields.text("name", longest=63, check=container_name_fault, needed=True),
        image=fields.text("image", longest=LONGEST_IMAGE, check=image_fault, needed=True),
        command=_words(fields, "command"),
        args=_words(fields, "args"),
        env=fields.pairs("env", most=MOST_ENV, key=env_name_fault, value=_env_value, total=MOST_ENV_BYTES),
        cpu=fields.quantity("cpu", parse_cpu),
        memory=fields.quantity("memory", parse_memory),
        cards=_cards(fields),
        ports=tuple(_port(port) for port in fields.objects("ports", most=20)),
    )
    for name, amount in (("cpu_millicores", container.cpu), ("memory_mib", container.memory)):
        # Answers carry the exact integers beside the text; a client may send them back, but not change them there.
        if fields.raw(name) not in (None, amount):
            fields.fault(name, _("is read only; change the text beside it"))
    fields.close()
    return container


def _containers(fields: Fields) -> tuple[ContainerSpec, ...]:
    containers = tuple(_container(item) for item in fields.objects("containers", most=MOST_CONTAINERS))
    if not containers and fields.at("containers") not in fields.faults.by_path:
        fields.fault("containers", _("at least one container is needed"))
    names: set[str] = set()
    ports: set[int] = set()
    port_names: set[str] = set()
    for place, container in enumerate(containers):
        if container.name and container.name in names:
            fields.fault(f"containers.{place}.name", _("another container has this name"))
        names.add(container.name)
        for index, port in enumerate(container.ports):
            if port.port and port.port in ports:
                fields.fault(f"containers.{place}.ports.{index}.port", _("the containers of a task share their ports"))
            if port.name and port.name in port_names:
                fields.fault(f"containers.{place}.ports.{index}.name", _("another port has this name"))
            ports.add(port.port)
            port_names.add(port.name)
    return containers


def _resources(given: object, faults: Faults, lowest_nodes: int) -> ResourceRequest:
    fields = Fields({} if given is None else given, "resources", faults)
    mark = fields.text("mark", longest=100)
    cards = fields.whole("cards_per_node", 0, low=0, high=MOST_CARDS)
    nodes = fields.whole("nodes", 1, low=lowest_nodes, high=MOST_NODES)
    if cards and not mark:
        fields.fault("mark", _("name the kind of card, or ask for no cards"))
    fields.close()
    # No card is no mark: left out, null and 0 are all the same CPU-only task (F04).
    return ResourceRequest(mark if cards else None, cards, nodes)


def _datasets(fields: Fields, *, with_shm: bool) -> tuple[DatasetMount, ...]:
    taken = {SHM_PATH} if with_shm else set()
    mounts = []
    for item in fields.objects("datasets", most=20):
        mount = DatasetMount(
            item.text("claim", longest=253, check=claim_fault, needed=True),
            item.text("mount_path", longest=500, check=mount_path_fault, needed=True),
            item.flag("read_only", default=True),
        )
        if mount.mount_path and plain_path(mount.mount_path) in taken:
            item.fault("mount_path", _("something is mounted there already"))
        taken.add(plain_path(mount.mount_path))
        item.close()
        mounts.append(mount)
    return tuple(mounts)


def _optional(fields: Fields, name: str, *, low: int, high: int) -> int | None:
    return None if fields.raw(name) is None else fields.whole(name, low, low=low, high=high)


def parse_spec(data: object, *, lowest_nodes: int = 1) -> TaskSpec | Refusal:
    """The spec, or one refusal with every fault under its path (``containers.0.cpu``); unknown names are faults.

    A null is the same as leaving the name out. ``lowest_nodes`` is 0 only where a task scaled to 0 is read back.
    """
    faults = Faults()
    fields = Fields(data, "", faults)
    shm = fields.quantity("shm", parse_memory)
    if fields.raw("shm_mib") not in (None, shm):
        fields.fault("shm_mib", _("is read only; change the text beside it"))
    kind = fields.word("kind", KindName, KindName.JOB, needed=True)
    spec = TaskSpec(
        kind=kind,
        display_name=fields.text("display_name", longest=500, check=display_name_fault, needed=True),
        containers=_containers(fields),
        resources=_resources(fields.raw("resources"), faults, lowest_nodes),
        project=fields.text("project", longest=63, check=lambda slug: container_name_fault(slug) if slug else None)
        or None,
        priority=fields.word("priority", Priority, Priority.NORMAL),
        shm=shm,
        datasets=_datasets(fields, with_shm=shm is not None),
        pending_timeout=fields.seconds("pending_timeout", DEFAULT_PENDING_TIMEOUT),
        max_runtime=fields.seconds("max_runtime", 0) or None,
        backoff_limit=fields.whole("backoff_limit", 0, low=0, high=1000),
        min_available=_optional(fields, "min_available", low=1, high=MOST_NODES),
        pre_stop_seconds=_optional(fields, "pre_stop_seconds", low=0, high=3600),
        on_preemption=fields.word("on_preemption", OnPreemption, OnPreemption.REQUEUE),
        labels=fields.pairs("labels", most=32, key=label_key_fault, value=label_value_fault, total=8192),
        advanced=read_advanced(fields.raw("advanced"), "advanced", faults),
    )
    fields.close()
    return faults.refusal() or spec


def _container_to_wire(container: ContainerSpec) -> dict[str, Any]:
    return {
        "name": container.name,
        "image": container.image,
        "command": list(container.command),
        "args": list(container.args),
        "env": dict(container.env),
        "cpu": None if container.cpu is None else format_cpu(container.cpu),
        "memory": None if container.memory is None else format_memory(container.memory),
        "cards": container.cards,
        "ports": [{"port": port.port, "name": port.name} for port in container.ports],
    }


def to_wire(spec: TaskSpec) -> dict[str, Any]:
    """The spec as rest.md writes it; ``parse_spec`` reads it back to an equal value."""
    return {
        "kind": spec.kind.value,
        "display_name": spec.display_name,
        "project": spec.project,
        "priority": spec.priority.value,
        "resources": {
            "mark": spec.resources.mark,
            "cards_per_node": spec.resources.cards_per_node,
            "nodes": spec.resources.nodes,
        },
        "containers": [_container_to_wire(container) for container in spec.containers],
        "shm": None if spec.shm is None else format_memory(spec.shm),
        "datasets": [
            {"claim": mount.claim, "mount_path": mount.mount_path, "read_only": mount.read_only}
            for mount in spec.datasets
        ],
        "pending_timeout": duration_text(spec.pending_timeout),
        "max_runtime": None if spec.max_runtime is None else duration_text(spec.max_runtime),
        "backoff_limit": spec.backoff_limit,
        "min_available": spec.min_available,
        "pre_stop_seconds": spec.pre_stop_seconds,
        "on_preemption": spec.on_preemption.value,
        "labels": dict(spec.labels),
        "advanced": dict(spec.advanced),
    }


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """RFC 7396 for one object: null takes a name away, the rest replaces; lists are replaced whole."""
    left = {key: value for key, value in old.items() if key not in new or new[key] is not None}
    return left | {key: value for key, value in new.items() if value is not None}


def merge_patch(spec: TaskSpec, data: object) -> TaskSpec | Refusal:
    """The spec with the given parts changed, read as strictly as a new one (PATCH of rest.md).

    ``resources``, ``labels`` and ``advanced`` merge by name; lists such as ``containers`` are replaced whole.
    """
    if not isinstance(data, Mapping):
        return parse_spec(data)
    whole = to_wire(spec)
    for name, value in data.items():
        mergeable = name in {"resources", "labels", "advanced"} and isinstance(value, Mapping)
        whole[name] = _merged(whole[name], value) if mergeable else value
    return parse_spec(whole, lowest_nodes=min(1, spec.resources.nodes))


def replacement(spec: TaskSpec, data: object) -> TaskSpec | Refusal:
    """A whole new spec in place of the old one (PUT); a task scaled to 0 may stay at 0."""
    return parse_spec(data, lowest_nodes=min(1, spec.resources.nodes))
