"""Tags and filters of every page: ``{% load ui %}``.

``{% icon "name" %}`` · ``{% state task.state %}`` · ``{% when moment %}`` · ``{% copy text %}`` ·
``{% quota_bar used held limit resource %}`` · ``{% navigation %}`` · ``{{ text|untrusted }}`` ·
``{{ n|cores }}`` ``{{ n|memory }}`` ``{{ n|amount:resource }}`` ``{{ length|duration }}``
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from apps.kernel.clock import now
from apps.ui import text as words
from apps.ui.navigation import ADMINISTRATION, entries
from apps.ui.states import look_of

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """One icon of the sprite; silent for screen readers unless it has a label."""
    if label:
        return format_html(
            '<svg class="icon" role="img" aria-label="{}"><use href="{}#{}"></use></svg>',
            label,
            static("build/icons.svg"),
            name,
        )
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("build/icons.svg"), name
    )


@register.simple_tag
def state(value: str, detail: str = "") -> SafeString:
    """A state as colour, icon and word; ``detail`` (such as 3/5) follows the word."""
    look = look_of(str(value))
    kind = f"{look.tone} state-working" if look.working else look.tone
    return format_html(
        '<span class="state {}" data-state="{}">{}{}{}</span>',
        kind,
        value,
        icon(look.icon),
        look.word,
        f" {detail}" if detail else "",
    )


@register.simple_tag
def when(moment: datetime | None, missing: str = "—") -> SafeString:
    """A moment, relative; the absolute one in the reader's zone on hover."""
    if moment is None:
        return format_html('<span class="faint">{}</span>', missing)
    absolute = date_format(timezone.localtime(moment), "Y-m-d H:i:s T")
    return format_html(
        '<time datetime="{}" title="{}" data-relative data-word-now="{}">{}</time>',
        moment.isoformat(),
        absolute,
        _("now"),
        words.ago(moment, now()),
    )


@register.simple_tag
def lasted(start: datetime | None, end: datetime | None) -> str:
    """How long something took, or takes so far."""
    return "—" if start is None else words.duration((end or now()) - start)


@register.simple_tag
def copy(value: str, label: str = "") -> SafeString:
    """A button that copies ``value``."""
    name = label or _("Copy")
    return format_html(
        '<button type="button" class="copy" data-copy="{}" aria-label="{}" title="{}">{}{}</button>',
        value,
        name,
        name,
        icon("copy"),
        icon("check"),
    )


@register.inclusion_tag("ui/quota_bar.html")
def quota_bar(used: int, held: int, limit: int, resource: str = "") -> dict[str, Any]:
    """Used, held by what waits, and the limit, as a bar and in words; what stands above the limit is the overhang."""
    return quota_context(used, held, limit, resource)


def quota_context(used: int, held: int, limit: int, resource: str) -> dict[str, Any]:
    """Widths in thousandths of the bar; the bar is as long as the larger of limit and what is taken."""
    taken = used + held
    whole = max(limit, taken, 1)
    over = max(0, taken - limit)
    within_used = min(used, limit)
    return {
        "used": used,
        "held": held,
        "limit": limit,
        "free": max(0, limit - taken),
        "over": over,
        "resource": resource,
        "used_width": within_used * 1000 // whole,
        "held_width": (min(taken, limit) - within_used) * 1000 // whole,
        "held_start": within_used * 1000 // whole,
        "over_start": min(taken, limit) * 1000 // whole,
        "over_width": over * 1000 // whole,
    }


@register.inclusion_tag("ui/navigation.html", takes_context=True)
def navigation(context: template.RequestContext) -> dict[str, Any]:
    """The pages of the frame; administration for administrators only."""
    request = context["request"]
    user = getattr(request, "user", None)
    admin = entries(request.path, ADMINISTRATION) if getattr(user, "is_superuser", False) else []
    return {"pages": entries(request.path), "administration": admin}


@register.simple_tag(takes_context=True)
def sort_header(context: template.RequestContext, field: str, label: str, css: str = "") -> SafeString:
    """The head of a column that sorts by ``field``: a link that keeps the rest of the URL, and aria-sort."""
    query = context["request"].GET.copy()
    present = query.get("order", "")
    query["order"] = f"-{field}" if present == field else field
    query.pop("page", None)
    sort = {field: "ascending", f"-{field}": "descending"}.get(present, "")
    arrow = {"ascending": " ↑", "descending": " ↓"}.get(sort, "")
    aria = format_html(' aria-sort="{}"', sort) if sort else ""
    link = f"?{query.urlencode()}"
    return format_html('<th scope="col" class="{}"{}><a href="{}">{}{}</a></th>', css, aria, link, label, arrow)


@register.inclusion_tag("ui/form_field.html", takes_context=True)
def form_field(context: template.RequestContext, name: str, label: str, **options: Any) -> dict[str, Any]:
    """One field of the page's ``form`` (ui.fields.FieldForm).

    Options: ``control`` (text, number, textarea, select), ``choices`` of (value, label), ``help``, ``placeholder``,
    ``needed``, ``mono``, ``wide``, ``rows``, ``least``, ``list``.
    """
    form = context["form"]
    value, locked = form.value(name), form.lock(name)
    errors = form.errors.get(name, [])
    return {
        "name": name,
        "label": label,
        "value": value,
        "errors": errors,
        "locked": locked,
        "control": "text",
    } | options


@register.filter
def untrusted(value: object) -> str:
    """Text from a pod, a label or a person with every hidden character shown; still to be escaped by the template."""
    return words.visible(str(value))


@register.filter
def less(value: int, part: int) -> int:
    """``{{ used|less:waiting }}``: what is left of a whole without a part."""
    return value - part


@register.filter
def cores(value: int | None) -> str:
    return "—" if value is None else words.cores(value)


@register.filter
def memory(value: int | None) -> str:
    return "—" if value is None else words.memory(value)


@register.filter
def amount(value: int, resource: str) -> str:
    return words.amount(value, resource)


@register.filter
def resource_name(resource: str) -> str:
    return words.resource_name(resource)


@register.filter
def money(value: int) -> str:
    return words.money(value)


@register.filter
def duration(value: timedelta | int | None) -> str:
    if value is None:
        return "—"
    return words.duration(value if isinstance(value, timedelta) else timedelta(seconds=value))


@register.filter
def state_word(value: str) -> str:
    return str(look_of(str(value)).word)


@register.filter
def state_tone(value: str) -> str:
    return look_of(str(value)).tone
