"""What OpenAPI tells of every call alike: names, pages, problems and how callers identify themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers

from apps.rest.pagination import LARGEST_PAGE
from apps.rest.problems import MEDIA_TYPE

Call = TypeVar("Call", bound=Callable[..., Any])
Shape = type[serializers.BaseSerializer[Any]]

PROBLEM_STATUSES = (401, 403, 404, 409, 412, 413, 415, 422, 428, 429, 503)
CURSOR = OpenApiParameter("cursor", str, description="Where the page begins; taken from `next` or `previous`.")
LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE},
    description="How many rows a page has at most.",
)
IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="The ETag that you have seen.")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255},
    OpenApiParameter.HEADER,
    description="The same key and body within 24 hours give the first answer again.",
)


class Problem(serializers.Serializer[Any]):
    """A refusal by RFC 9457; the numbers behind it stand beside these names."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    fields = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))  # type: ignore[assignment]  # the name is rest.md's; DRF's property of that name is not used for a shape that only documents


def text_parameter(name: str, description: str, *, many: bool = False, of: Any = str) -> OpenApiParameter:
    """A query parameter, repeatable where ``many``."""
    return OpenApiParameter(name, of, OpenApiParameter.QUERY, many=many, description=description)


def moment_parameter(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, OpenApiTypes.DATETIME, OpenApiParameter.QUERY, description=description)


def documented(
    name: str,
    answer: Shape | None,
    *,
    status: int = 200,
    request: Any = None,
    parameters: Sequence[OpenApiParameter] = (),
    paged: bool = False,
    also: Sequence[str] = (),
) -> Callable[[Call], Call]:
    """Describe one call: its operation id, what it takes and answers, and that it may answer a problem.

    ``also`` names further media types, in which the same is answered as text.
    """
    shape = _page_of(answer) if paged and answer is not None else answer
    responses: dict[Any, Any] = {(status, "application/json"): shape} if also else {status: shape}
    responses |= {(status, media): OpenApiTypes.STR for media in also}
    responses |= {(code, MEDIA_TYPE): Problem for code in PROBLEM_STATUSES}
    more = (CURSOR, LIMIT) if paged else ()
    described: Callable[[Call], Call] = extend_schema(
        operation_id=name, request=request, responses=responses, parameters=[*parameters, *more]
    )
    return described


def _page_of(shape: Shape) -> serializers.Serializer[Any]:
    page: serializers.Serializer[Any] = inline_serializer(
        name=f"{shape.__name__}Page",
        fields={
            "results": shape(many=True),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
        },
    )
    return page


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its base registers without types
    """``Authorization: Bearer ptk_…`` as a security scheme."""

    target_class = "apps.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
