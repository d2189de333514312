"""resource.Quantity: reading, comparing and the canonical writing of the API server."""

import re
from fractions import Fraction
from functools import lru_cache

_SHAPE = re.compile(
    r"^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,3})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)$", re.ASCII
)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_LARGEST = 2**63 - 1
FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class QuantityError(ValueError):
    """The text is no quantity."""


@lru_cache(maxsize=8192)
def parse(text: str) -> Fraction:
    """Return the exact value, rounded up to 1e-9 as the API server does; raises QuantityError."""
    value, _ = _parts(text)
    return value


@lru_cache(maxsize=8192)
def canonical(text: str) -> str:
    """Write a quantity as the API server returns it (`1000m` → `1`, `1024Mi` → `1Gi`); raises QuantityError."""
    value, form = _parts(text)
    if form == "exponent":
        return _exponent(value)
    if form == "binary" and value.denominator == 1 and (abs(value) >= 1024 or value == 0):
        return _binary(value)
    return _decimal(value)


def number(value: object) -> Fraction:
    """Read a quantity from a JSON value; an absent one is 0."""
    return parse(str(value)) if value not in (None, "") else Fraction(0)


def write(value: Fraction, like: str = "") -> str:
    """Write a value in binary units when `like` is written so, else in decimal units."""
    if like.endswith("i") and value.denominator == 1 and abs(value) >= 1024:
        return _binary(value)
    return _decimal(value)


def _parts(text: str) -> tuple[Fraction, str]:
    found = _SHAPE.match(text) if len(text) <= 64 else None
    if not found:
        raise QuantityError(FORM)
    sign, digits, exponent, suffix = found.groups()
    value = Fraction(digits)
    form = "decimal"
    if exponent:
        form, value = "exponent", value * Fraction(10) ** int(exponent[1:])
    elif suffix in _BINARY:
        form, value = "binary", value * 1024 ** _BINARY[suffix]
    else:
        value *= Fraction(1000) ** _DECIMAL[suffix or ""]
    nano = value * 10**9
    if nano.denominator != 1:
        value = Fraction(-(-nano.numerator // nano.denominator), 10**9)
    value = min(value, Fraction(_LARGEST))
    return (-value if sign == "-" else value), form


def _binary(value: Fraction) -> str:
    whole, power = int(value), 0
    while whole and whole % 1024 == 0 and power < 6:
        whole, power = whole // 1024, power + 1
    return f"{whole}{['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][power]}"


def _decimal(value: Fraction) -> str:
    power = 0
    while value.denominator != 1 and power > -3:
        value, power = value * 1000, power - 1
    whole = int(value)
    while whole and whole % 1000 == 0 and power < 6:
        whole, power = whole // 1000, power + 1
    suffix = {v: k for k, v in _DECIMAL.items()}[power]
    return f"{whole}{suffix}"


def _exponent(value: Fraction) -> str:
    plain = _decimal(value)
    for suffix, power in _DECIMAL.items():
        if suffix and plain.endswith(suffix):
            return f"{plain[: -len(suffix)]}e{power * 3}"
    return plain
