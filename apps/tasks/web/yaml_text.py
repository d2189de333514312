"""YAML for people: written plainly, read safely (duplicate keys and odd types refused)."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Any

from django.utils.translation import gettext as _
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from apps.kernel.errors import Code, refuse

LONGEST = 256 * 1024


def as_yaml(value: Mapping[str, Any]) -> str:
    """The value in block style, in the order it has."""
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]  # the library types its own default only
    yaml.width = 100
    yaml.allow_unicode = True
    out = StringIO()
    yaml.dump(dict(value), out)
    return out.getvalue()


def from_yaml(text: str) -> Mapping[str, Any]:
    """One YAML (or JSON) document that is a mapping; raises Refused with the line where it is not YAML."""
    if len(text) > LONGEST:
        raise refuse(Code.TOO_LARGE, _("That is too long for a task spec."), fields={"yaml": [_("at most 256 KiB")]})
    if text.count("&") and "*" in text:
        message = _("anchors and aliases are not taken: write the value out")
        raise refuse(Code.INVALID, message, fields={"yaml": [message]})
    try:
        value = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as fault:
        mark = getattr(fault, "problem_mark", None)
        where = _("line %(line)d: ") % {"line": mark.line + 1} if mark else ""
        message = f"{where}{getattr(fault, 'problem', None) or _('this is not YAML')}"
        raise refuse(Code.INVALID, message, fields={"yaml": [message]}) from None
    if not isinstance(value, dict):
        message = _("a task spec is a mapping of names to values")
        raise refuse(Code.INVALID, message, fields={"yaml": [message]})
    return value
