"""The frame's navigation: pages by the name of their URL; a page that does not exist yet is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the navigation."""

    url_name: str
    icon: str
    label: str | _StrPromise
    url: str = ""
    current: bool = False


PAGES = (
    Entry("dashboard:overview", "layout-dashboard", _("Overview")),
    Entry("tasks:task-list", "list-details", _("Tasks")),
    Entry("dashboard:resources", "cpu", _("Resources")),
    Entry("organisations:project-list", "folder", _("Projects")),
    Entry("quotas:quota-list", "gauge", _("Quotas")),
    Entry("dashboard:cluster-list", "server-2", _("Clusters")),
)
ADMINISTRATION = (Entry("admin:index", "shield-lock", _("Administration")),)


def entries(path: str, pages: tuple[Entry, ...] = PAGES) -> list[Entry]:
    """The pages that exist, the one that ``path`` lies in marked as current."""
    found: list[Entry] = []
    for page in pages:
        try:
            url = reverse(page.url_name)
        except NoReverseMatch:
            continue
        found.append(Entry(page.url_name, page.icon, page.label, url))
    inside = [entry.url for entry in found if path == entry.url or (entry.url != "/" and path.startswith(entry.url))]
    here = max(inside, key=len, default="")
    return [Entry(e.url_name, e.icon, e.label, e.url, current=e.url == here) for e in found]
