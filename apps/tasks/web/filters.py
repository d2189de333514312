"""The task list's filters, sort order and page, all of them in the URL."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import HttpRequest, QueryDict

from apps.tasks.domain.spec import KindName, Priority
from apps.tasks.domain.states import State
from apps.tasks.selectors import TaskFilter
from apps.ui.scope import ME, chosen_scope

ORDERS = {
    "created": ("created_at", "id"),
    "name": ("display_name", "id"),
    "state": ("state", "-created_at", "id"),
    "priority": ("priority", "-created_at", "id"),
    "cards": ("cards", "-created_at", "id"),
}
NEWEST = "-created"
LONGEST_SEARCH = 100


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What the reader asked for: the filter, and one of ORDERS, with a minus for the other direction."""

    filter: TaskFilter
    order: str = NEWEST

    def without_state(self) -> TaskFilter:
        """The filter that the state chips count under."""
        return replace(self.filter, state=())

    def ordering(self) -> list[str]:
        """The same as field names for a queryset."""
        fields = ORDERS[self.order.removeprefix("-")]
        return [_reversed(field) for field in fields] if self.order.startswith("-") else list(fields)


def _reversed(field: str) -> str:
    return field.removeprefix("-") if field.startswith("-") else f"-{field}"


def read_query(request: HttpRequest) -> ListQuery:
    """Read the URL; words that no filter knows are ignored, so that an old link still opens."""
    given, scope = request.GET, chosen_scope(request)
    known = TaskFilter(
        state=_known(given, "state", [state.value for state in State]),
        kind=_known(given, "kind", [kind.value for kind in KindName]),
        priority=_known(given, "priority", [priority.value for priority in Priority]),
        mark=_texts(given, "mark"),
        cluster=_texts(given, "cluster"),
        owner=_texts(given, "owner"),
        project=(scope,) if scope not in {"", ME} else _texts(given, "project"),
        personal=scope == ME,
        q=_clean(given.get("q", "")),
    )
    order = given.get("order", NEWEST)
    return ListQuery(known, order if order.removeprefix("-") in ORDERS else NEWEST)


def _known(given: QueryDict, name: str, words: list[str]) -> tuple[str, ...]:
    return tuple(value for value in given.getlist(name) if value in words)


def _texts(given: QueryDict, name: str) -> tuple[str, ...]:
    return tuple(_clean(value) for value in given.getlist(name) if value)[:20]


def _clean(text: str) -> str:
    """Without NUL, which PostgreSQL refuses, and of bounded length."""
    return text.replace("\x00", "").strip()[:LONGEST_SEARCH]
