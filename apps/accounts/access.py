"""The only door from a person to a token: one's own, and nobody else's."""

from __future__ import annotations

from django.http import Http404

from apps.accounts.models import ApiToken, User


def token_for(user: User, pk: int) -> ApiToken:
    """The person's own token; raises Http404 for anybody else's, an administrator included."""
    found = ApiToken.objects.select_related("owner").filter(pk=pk, owner=user).first()
    if found is None:
        raise Http404
    return found
