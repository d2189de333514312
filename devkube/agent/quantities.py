"""Kubernetes quantities, as far as the agent reads them."""

from __future__ import annotations

import re
from fractions import Fraction
from math import ceil

_SHAPE = re.compile(r"([0-9.]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?", re.ASCII)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def whole(text: object) -> int:
    """The quantity in its base unit (bytes, cores, cards), rounded up; raises ValueError."""
    found = _SHAPE.fullmatch(str(text))
    if not found:
        raise ValueError(f"not a quantity: {text!r}")
    number, suffix = Fraction(found.group(1)), found.group(2) or ""
    if suffix in _BINARY:
        return ceil(number * int(1024 ** _BINARY[suffix]))
    if suffix in _DECIMAL:
        return ceil(number * int(1000 ** _DECIMAL[suffix]))
    if suffix == "m":
        return ceil(number / 1000)
    return ceil(number * Fraction("1" + suffix)) if suffix else ceil(number)
