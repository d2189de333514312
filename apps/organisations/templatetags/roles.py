"""``{% load roles %}``: roles in words."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext_lazy as _

register = template.Library()
WORDS = {"owner": _("owner"), "member": _("member"), "viewer": _("viewer")}


@register.filter
def role_word(role: str) -> str:
    return str(WORDS.get(str(role), role))
