"""How a state looks: colour, icon and word, always together, so that none of them is needed alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class Look:
    """``tone`` is a class of components.css, ``icon`` a name of static/icons.json."""

    tone: str
    icon: str
    word: str | _StrPromise
    working: bool = False


LOOKS: dict[str, Look] = {
    "queued": Look("tone-grey", "hourglass", _("queued")),
    "starting": Look("tone-blue", "loader-2", _("starting"), working=True),
    "running": Look("tone-green", "player-play", _("running")),
    "updating": Look("tone-blue", "refresh", _("updating"), working=True),
    "degraded": Look("tone-amber", "alert-triangle", _("degraded")),
    "pausing": Look("tone-violet", "loader-2", _("pausing"), working=True),
    "paused": Look("tone-violet", "player-pause", _("paused")),
    "stopping": Look("tone-grey", "loader-2", _("stopping"), working=True),
    "succeeded": Look("tone-green", "circle-check", _("succeeded")),
    "failed": Look("tone-red", "circle-x", _("failed")),
    "stopped": Look("tone-grey", "player-stop", _("stopped")),
    # instances and containers
    "pending": Look("tone-grey", "hourglass", _("pending")),
    "waiting": Look("tone-amber", "hourglass", _("waiting")),
    "crash_loop": Look("tone-red", "refresh", _("crash loop")),
    "image_pull": Look("tone-red", "alert-triangle", _("image not pulled")),
    "init_failed": Look("tone-red", "circle-x", _("init container failed")),
    "evicted": Look("tone-amber", "ban", _("evicted")),
    "preempted": Look("tone-amber", "ban", _("preempted")),
    "lost": Look("tone-amber", "help-circle", _("lost")),
    "terminating": Look("tone-grey", "loader-2", _("terminating"), working=True),
    "terminated": Look("tone-grey", "player-stop", _("ended")),
    "unknown": Look("tone-amber", "help-circle", _("unknown")),
    "gone": Look("tone-grey", "circle-dashed", _("gone")),
    # clusters and nodes
    "reachable": Look("tone-green", "plug", _("reachable")),
    "unreachable": Look("tone-red", "plug-x", _("not reachable")),
    "unasked": Look("tone-grey", "circle-dashed", _("not yet asked")),
    "ready": Look("tone-green", "circle-check", _("ready")),
    "not_ready": Look("tone-red", "circle-x", _("not ready")),
    "cordoned": Look("tone-amber", "ban", _("cordoned")),
    # tokens
    "active": Look("tone-green", "circle-check", _("active")),
    "expired": Look("tone-grey", "clock", _("expired")),
    "revoked": Look("tone-grey", "ban", _("revoked")),
    # verdicts of a preview
    "starts_now": Look("tone-green", "rocket", _("starts now")),
    "queues": Look("tone-amber", "hourglass", _("will queue")),
    "refused": Look("tone-red", "ban", _("refused")),
}


def look_of(state: str) -> Look:
    """The look of a state; a word that a cluster made up is shown as it is, in grey."""
    return LOOKS.get(state.lower(), Look("tone-grey", "circle-dashed", state))
