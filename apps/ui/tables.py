"""Base of every list that sorts and pages: state in the URL, rows as a partial that live changes may refetch."""

from __future__ import annotations

from typing import Any, TypeVar

import django_tables2 as tables
from django.http import HttpRequest

PER_PAGE = 25
Made = TypeVar("Made", bound="Table")


class Table(tables.Table):  # type: ignore[misc]  # django-tables2 carries no types
    """A table in the look of ui/table.html; on a phone every row is a card that names its cells."""

    class Meta:
        template_name = "ui/table.html"
        attrs = {"class": "table is-cards"}
        row_attrs = {"id": lambda record: f"row-{record.pk}"}


def page_of(request: HttpRequest, table: Made, *, per_page: int = PER_PAGE) -> Made:
    """Sort and page the table by what stands in the URL; a page that does not exist is the nearest that does."""
    tables.RequestConfig(request, paginate={"per_page": per_page, "silent": True}).configure(table)
    return table


def cell(**attributes: Any) -> dict[str, dict[str, Any]]:
    """The ``attrs`` of a column whose header and cells share classes: ``attrs=cell(**{"class": "num"})``."""
    return {"td": attributes, "th": attributes}
