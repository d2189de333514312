"""What a caller asks of a task's lines (rest.md, logs)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.request import Request

from apps.logs.domain.lines import EPOCH, LineFilter, Place, parse_place, parse_time
from apps.logs.selectors import LARGEST_PAGE, line_filter
from apps.rest.parsing import Parameters
from apps.rest.schema import moment_parameter, text_parameter

USUAL_PAGE = 1000
HIGHEST = 2**31 - 1
STREAMS = frozenset({"stdout", "stderr"})
PARAMETERS = (
    text_parameter("attempt", "Only this attempt.", of=int),
    text_parameter("instance", "Only this instance, by name or uid."),
    text_parameter("container", "Only this container."),
    text_parameter("stream", "stdout or stderr."),
    moment_parameter("since", "Written at this time or later."),
    moment_parameter("until", "Written before this time."),
    text_parameter("q", "Only lines that hold this text, in any case."),
    text_parameter("after", "Lines behind this place."),
    text_parameter("before", "The last lines ahead of this place."),
    text_parameter("tail", "Begin at the n-th newest line.", of=int),
    text_parameter("limit", f"At most {LARGEST_PAGE} lines.", of=int),
    text_parameter("download", "1: the whole log as text.", of=int),
    text_parameter("follow", "1, with application/x-ndjson: go on with new lines.", of=int),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """``narrowing`` is what ``logs.selectors.line_filter`` takes, ``window`` what ``lines`` takes beyond it."""

    narrowing: dict[str, Any]
    window: dict[str, Any]
    after: Place | None
    download: bool
    follow: bool

    @property
    def filter(self) -> LineFilter:
        return line_filter(**self.narrowing)


def asked(request: Request) -> Asked:
    """Read the parameters; raises Refused (invalid) naming every one that cannot be used."""
    given = Parameters(request)
    place, moment = _("is no place of a line"), _("must be a time such as 2026-12-01T08:00:00Z")
    narrowing = {
        "attempt": given.whole("attempt", 0, low=0, high=HIGHEST) or None,
        "instance": given.text("instance") or None,
        "container": given.text("container") or None,
        "stream": next(iter(given.words("stream", STREAMS)), None),
        "since": given.read("since", _moment, moment),
        "until": given.read("until", _moment, moment),
        "q": given.text("q") or None,
    }
    after = given.read("after", parse_place, place)
    window = {
        "after": after,
        "before": given.read("before", parse_place, place),
        "tail": given.whole("tail", 0, low=0, high=HIGHEST) or None,
        "limit": given.whole("limit", USUAL_PAGE, low=1, high=LARGEST_PAGE),
    }
    found = Asked(narrowing, window, after, given.flag("download"), given.flag("follow"))
    given.done()
    return found


def _moment(text: str) -> datetime:
    # A plus sign that was not escaped in the address arrives as a space.
    return EPOCH + timedelta(microseconds=parse_time(text.replace(" ", "+")) // 1000)
