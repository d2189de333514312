"""Kubernetes quantity and duration strings to integers and back, at the edge only.

Source: Kubernetes ``resource.Quantity`` (decimal suffixes m k M G T P E, binary Ki Mi Gi Ti Pi Ei, exponents).
"""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from apps.kernel.resources import MiB, Millicores
from apps.kernel.text import say as _

_QUANTITY = re.compile(r"^([0-9]{1,15})(?:\.([0-9]{1,9}))?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]{1,2})?$")
_SCALES: dict[str, Fraction] = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_BYTES_PER_MIB = 2**20
# Above this no machine exists and PostgreSQL's bigint sums could overflow.
LARGEST_MILLICORES = 10**9
LARGEST_MIB = 10**9

_DURATION = re.compile(r"^(?:([0-9]{1,5})d)?(?:([0-9]{1,6})h)?(?:([0-9]{1,7})m)?(?:([0-9]{1,9})s)?$")
LONGEST_DURATION = timedelta(days=366)


class QuantityError(ValueError):
    """The text is no quantity or duration; the message says what one looks like."""


def _exact(text: str) -> Fraction:
    matched = _QUANTITY.match(text.strip()) if len(text) <= 40 else None
    if matched is None:
        raise QuantityError(_("“%(text)s” is not a quantity; write for example 500m, 4 or 16Gi", text=text[:40]))
    whole, part, suffix = matched.group(1), matched.group(2) or "", matched.group(3) or ""
    number = Fraction(int(whole + part), 10 ** len(part))
    scale = Fraction(10) ** int(suffix[1:]) if suffix[:1] in ("e", "E") and suffix != "E" else _SCALES[suffix]
    return number * scale


def parse_cpu(text: str) -> Millicores:
    """Cores as text (``4``, ``500m``, ``0.5``) to whole millicores, rounded up; raises QuantityError."""
    exact = _exact(text) * 1000
    amount = -(-exact.numerator // exact.denominator)
    if amount > LARGEST_MILLICORES:
        raise QuantityError(_("that is more than any machine has"))
    return Millicores(amount)


def parse_memory(text: str) -> MiB:
    """Memory as text (``16Gi``, ``512Mi``, ``1G``) to whole MiB, rounded up; raises QuantityError."""
    exact = _exact(text) / _BYTES_PER_MIB
    amount = -(-exact.numerator // exact.denominator)
    if amount > LARGEST_MIB:
        raise QuantityError(_("that is more than any machine has"))
    return MiB(amount)


def whole_mib(text: str) -> MiB:
    """Memory that a machine offers, in whole MiB rounded down, so that no task is promised what is not there."""
    exact = _exact(text) / _BYTES_PER_MIB
    return MiB(min(LARGEST_MIB, exact.numerator // exact.denominator))


def parse_count(text: str) -> int:
    """A whole count of pieces (extended resources, pods); raises QuantityError for fractions."""
    exact = _exact(text)
    if exact.denominator != 1:
        raise QuantityError(_("pieces are whole numbers"))
    return exact.numerator


def format_cpu(amount: int) -> str:
    """Millicores as Kubernetes text: ``4`` for whole cores, ``500m`` otherwise."""
    return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"


def format_memory(amount: int) -> str:
    """MiB as Kubernetes text: ``16Gi`` where whole, ``100Mi`` otherwise."""
    return f"{amount // 1024}Gi" if amount and amount % 1024 == 0 else f"{amount}Mi"


def parse_duration(text: str) -> timedelta:
    """``90s``, ``30m``, ``2h``, ``1d12h`` to a duration; ``0`` is none; raises QuantityError."""
    stripped = text.strip()
    if stripped == "0":
        return timedelta(0)
    matched = _DURATION.match(stripped) if stripped else None
    if matched is None:
        raise QuantityError(_("“%(text)s” is not a duration; write for example 30m, 2h or 90s", text=text[:40]))
    days, hours, minutes, seconds = (int(group or 0) for group in matched.groups())
    duration = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if duration > LONGEST_DURATION:
        raise QuantityError(_("that is longer than a year"))
    return duration


def format_duration(duration: timedelta) -> str:
    """The shortest text that ``parse_duration`` reads back to the same duration."""
    left = int(duration.total_seconds())
    if left == 0:
        return "0"
    parts: list[str] = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)
