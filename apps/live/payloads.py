"""What is said on a WebSocket and on the channel layer, as types (rest.md, WebSocket).

``seq`` is the Task's own rising number. On the channel layer only nudges travel: small, of ids and numbers. Whoever
hears one reads the present truth from the database, so a lost nudge loses nothing but a moment.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Change = Literal["task.changed", "instance.changed", "event.added"]


class TaskNudge(TypedDict):
    """On the channel layer: something about this Task changed. ``type`` names the consumer's method."""

    type: Literal["task.nudge"]
    change: Change
    task: str
    project: int | None
    owner: int
    seq: int


class LogNudge(TypedDict):
    """On the channel layer: lines of this Task were stored, the newest with this arrival number."""

    type: Literal["log.nudge"]
    task: str
    arrival: int


class TaskChanged(TypedDict):
    type: Literal["task.changed"]
    seq: int
    task: dict[str, Any]


class InstanceChanged(TypedDict):
    type: Literal["instance.changed"]
    seq: int
    instance: dict[str, Any]


class EventAdded(TypedDict):
    type: Literal["event.added"]
    seq: int
    event: dict[str, Any]


class LogLine(TypedDict):
    """One line as REST and the socket give it (rest.md); ``place`` orders lines as text and resumes reading."""

    at: str
    attempt: int
    instance: str
    container: str
    stream: str
    text: str
    place: str


class LogLines(TypedDict):
    """Without ``seq``: lines are ordered and deduplicated by ``place``."""

    type: Literal["log.lines"]
    lines: list[LogLine]


class Resync(TypedDict):
    """Too much was missed, or it is not known what: read everything again."""

    type: Literal["resync"]
    seq: int


class Ping(TypedDict):
    """Keeps proxies from closing a silent socket; sent more often than every 30 s."""

    type: Literal["ping"]


Message = TaskChanged | InstanceChanged | EventAdded | LogLines | Resync | Ping
