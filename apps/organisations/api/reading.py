"""What callers of the project calls send, as values of ours."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from apps.organisations import selectors
from apps.rest.parsing import Body


def new_project(request: Request) -> dict[str, Any]:
    """What ``services.create_project`` takes; raises Refused (invalid) at every field that cannot be used."""
    body = Body(request.data)
    texts = {name: body.text(name, longest=longest) for name, longest in NEW_PROJECT.items()}
    body.done()
    return {
        "slug": texts["slug"],
        "name": texts["name"],
        "department": selectors.department_named(texts["department"]),
        "owner": selectors.person_named(texts["owner"], field="owner"),
    }


NEW_PROJECT = {"slug": 40, "name": 80, "department": 40, "owner": 150}
"""The fields of a new project and how many characters each may have."""
