"""Texts for people: untrusted text made harmless to read, quantities with their unit, ages in few words."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

_KEPT = frozenset("\t\n")
LONGEST = 4000


def visible(text: str, *, longest: int = LONGEST) -> str:
    """``text`` with control, zero-width and bidirectional characters shown as marks, cut to ``longest`` characters.

    Escaping for HTML stays the template's work; this makes what is escaped also honest to look at.
    """
    shown = "".join(_mark(character) for character in text[:longest])
    return f"{shown}…" if len(text) > longest else shown


def _mark(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}:
        return character
    point = ord(character)
    return chr(0x2400 + point) if point < 0x20 else f"⟨U+{point:04X}⟩"


def cores(millicores: int) -> str:
    """Millicores as cores: ``14``, ``0.5``, ``3.25``."""
    whole, part = divmod(abs(millicores), 1000)
    sign = "-" if millicores < 0 else ""
    return f"{sign}{whole}" + (f".{part:03d}".rstrip("0") if part else "")


def memory(mib: int) -> str:
    """MiB in the unit that reads best, to one decimal: ``512 MiB``, ``93.3 GiB``, ``1.5 TiB``."""
    size, unit = float(abs(mib)), "MiB"
    for larger in ("GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    text = f"{size:.1f}".removesuffix(".0")
    return f"{'-' if mib < 0 else ''}{text} {unit}"


def amount(value: int, resource: str) -> str:
    """An amount of a quota resource (``cpu``, ``memory``, ``cards:<mark>``) with its unit."""
    if resource == "cpu":
        return _("%(cores)s cores") % {"cores": cores(value)}
    return memory(value) if resource == "memory" else str(value)


def resource_name(resource: str) -> str:
    """What people call a quota resource."""
    if resource == "cpu":
        return _("CPU")
    if resource == "memory":
        return _("memory")
    return resource.partition(":")[2]


def money(micro_units: int) -> str:
    """Micro-units as units with two decimals, rounded half up without floats."""
    cents = (abs(micro_units) + 5_000) // 10_000
    return f"{'-' if micro_units < 0 else ''}{cents // 100}.{cents % 100:02d}"


def duration(length: timedelta) -> str:
    """The two largest units: ``2 h 5 min``, ``14 min 3 s``, ``6 s``."""
    left = max(0, int(length.total_seconds()))
    words: list[str] = []
    for unit, size in ((_("d"), 86400), (_("h"), 3600), (_("min"), 60), (_("s"), 1)):
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {unit}")
    return " ".join(words[:2]) or f"0 {_('s')}"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago, in one unit; the page's script keeps it true while it stands open."""
    seconds = int((now - moment).total_seconds())
    if abs(seconds) < 2:
        return _("now")
    for unit, size in ((_("d"), 86400), (_("h"), 3600), (_("min"), 60), (_("s"), 1)):
        if abs(seconds) >= size:
            count = abs(seconds) // size
            return (_("%(n)s %(unit)s ago") if seconds > 0 else _("in %(n)s %(unit)s")) % {"n": count, "unit": unit}
    return _("now")
