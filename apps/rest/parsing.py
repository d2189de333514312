"""Reading what callers send: JSON without its loopholes, and query parameters fit for the database."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any, TypeVar

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from apps.kernel.errors import Code, Refused, refuse

LARGEST_BODY = 1024 * 1024
DEEPEST = 32
LONGEST_PARAMETER = 500
MOST_VALUES = 100
_UNCLEAN = re.compile("[\x00\ud800-\udfff]")
Result = TypeVar("Result")


class StrictJSONParser(BaseParser):
    """JSON of at most 1 MiB and 32 levels; duplicate names, NaN, Infinity, NUL and lone surrogates are refused."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        raw = stream.read(LARGEST_BODY + 1)
        if len(raw) > LARGEST_BODY:
            raise too_large()
        return read_json(raw)


def read_json(raw: bytes) -> Any:
    """The value that the bytes stand for; raises Refused (invalid) saying what is wrong and where."""
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object, parse_float=_finite, parse_constant=_no_constant
        )
    except RecursionError:
        raise _not_json(_("nested too deeply")) from None
    except UnicodeDecodeError:
        raise _not_json(_("it is not UTF-8")) from None
    except json.JSONDecodeError as fault:
        raise _not_json(f"{fault.msg}, line {fault.lineno} column {fault.colno}") from None
    except ValueError:
        raise _not_json(_("it holds a number that is too large")) from None
    _check_texts(value)
    return value


def too_large() -> Refused:
    """The refusal of a body that is over the bound."""
    detail = _("A body may have at most %(limit)d bytes.") % {"limit": LARGEST_BODY}
    return refuse(Code.TOO_LARGE, detail, limit=LARGEST_BODY)


def _not_json(why: str) -> Refused:
    return refuse(Code.INVALID, _("The body is not acceptable JSON: %(why)s.") % {"why": why})


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _not_json(_("“%(name)s” stands twice in one object") % {"name": _UNCLEAN.sub("�", twice)[:60]})
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _not_json(_("it holds a number that is too large"))
    return number


def _no_constant(word: str) -> Any:
    raise _not_json(_("“%(word)s” is no JSON number") % {"word": word})


def _check_texts(value: Any) -> None:
    """Raise for what PostgreSQL cannot store; walks without recursion, since the input may be hostile."""
    open_values: list[tuple[Any, int]] = [(value, 1)]
    while open_values:
        item, depth = open_values.pop()
        if depth > DEEPEST:
            raise _not_json(_("nested deeper than %(most)d levels") % {"most": DEEPEST})
        if isinstance(item, str) and _UNCLEAN.search(item):
            raise _not_json(_("it holds a character that cannot be stored (NUL or half of a surrogate pair)"))
        if isinstance(item, dict):
            open_values.extend((child, depth + 1) for pair in item.items() for child in pair)
        elif isinstance(item, list):
            open_values.extend((child, depth + 1) for child in item)


class Parameters:
    """The query parameters of one call; ``done`` raises every fault found at once, each under its name."""

    def __init__(self, request: Request) -> None:
        self._given = request.query_params
        self._faults: dict[str, list[str]] = {}

    def text(self, name: str) -> str:
        return next(iter(self._clean(name)[-1:]), "")

    def texts(self, name: str) -> tuple[str, ...]:
        """Every value of a parameter that may be repeated; empty ones say nothing."""
        values = tuple(value for value in self._clean(name) if value)
        if len(values) > MOST_VALUES:
            self.fault(name, _("at most %(most)d values") % {"most": MOST_VALUES})
        return values

    def words(self, name: str, known: Mapping[str, Any] | frozenset[str]) -> tuple[str, ...]:
        """Like ``texts``, each one of the ``known``."""
        values = self.texts(name)
        if not set(values) <= set(known):
            self.fault(name, _("must be one of %(words)s") % {"words": ", ".join(known)})
        return values

    def whole(self, name: str, default: int, *, low: int, high: int) -> int:
        text = self.text(name)
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) < 12 and low <= int(text) <= high):
            self.fault(name, _("must be a whole number from %(low)d to %(high)d") % {"low": low, "high": high})
            return default
        return int(text)

    def flag(self, name: str) -> bool:
        text = self.text(name)
        if text not in {"", "0", "1", "true", "false"}:
            self.fault(name, _("must be 1 or 0"))
        return text in {"1", "true"}

    def moment(self, name: str) -> datetime | None:
        """A time by RFC 3339; without a zone it is UTC."""
        return self.read(name, _moment, _("must be a time such as 2026-12-01T08:00:00Z"))

    def read(self, name: str, parse: Callable[[str], Result | None], message: str) -> Result | None:
        """What ``parse`` makes of the value; None from it, or a ValueError, is a fault."""
        text = self.text(name)
        if not text:
            return None
        try:
            result = parse(text)
        except (ValueError, OverflowError):
            result = None
        if result is None:
            self.fault(name, message)
        return result

    def fault(self, name: str, message: str) -> None:
        self._faults.setdefault(name, []).append(message)

    def done(self) -> None:
        """Raise Refused (invalid) when anything was wrong."""
        if self._faults:
            raise refuse(Code.INVALID, _("Some parameters cannot be used."), fields=self._faults)

    def _clean(self, name: str) -> list[str]:
        values = self._given.getlist(name)
        if any(_UNCLEAN.search(value) or len(value) > LONGEST_PARAMETER for value in values):
            self.fault(name, _("is too long, or holds a character that cannot be stored"))
            return []
        return values


def _moment(text: str) -> datetime | None:
    # A plus sign that was not escaped in the address arrives as a space.
    found = parse_datetime(text.replace(" ", "+") if text.count(" ") == 1 and "T" in text else text)
    if found is None:
        return None
    return (found.replace(tzinfo=UTC) if found.tzinfo is None else found).astimezone(UTC)


class Body:
    """A small JSON object read strictly: right types, no unknown names; ``done`` raises every fault found at once."""

    def __init__(self, data: Any) -> None:
        self._faults: dict[str, list[str]] = {}
        self._read: set[str] = set()
        self._data: dict[str, Any] = data if isinstance(data, dict) else {}
        if not isinstance(data, dict):
            self.fault("", _("must be an object"))

    def whole(self, name: str, *, low: int, high: int) -> int:
        """A whole number between the bounds; a fraction, text or boolean is none."""
        value = self._take(name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.fault(name, _("must be a whole number from %(low)d to %(high)d") % {"low": low, "high": high})
            return low
        return value

    def text(self, name: str, *, longest: int) -> str:
        """A text of at least one character."""
        value = self._take(name)
        if not isinstance(value, str) or not 0 < len(value.strip()) <= longest or len(value) > longest:
            self.fault(name, _("must be a text of 1 to %(longest)d characters") % {"longest": longest})
            return ""
        return value

    def maybe_text(self, name: str, *, longest: int) -> str:
        """A text that may be left out, null or empty: then it is empty."""
        value = self._take(name)
        if value is None or (isinstance(value, str) and len(value) <= longest):
            return value or ""
        self.fault(name, _("must be a text of at most %(longest)d characters") % {"longest": longest})
        return ""

    def flag(self, name: str, *, default: bool = False) -> bool:
        """true or false; the default where it is left out or null."""
        value = self._take(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.fault(name, _("must be true or false"))
        return default

    def word(self, name: str, known: Sequence[str]) -> str:
        """One of the known words; the first where it is none of them."""
        value = self._take(name)
        if isinstance(value, str) and value in known:
            return value
        self.fault(name, _("must be one of %(words)s") % {"words": ", ".join(known)})
        return known[0]

    def object(self, name: str) -> dict[str, Any]:
        """An object, empty where it is left out."""
        value = self._take(name)
        if value is None or isinstance(value, dict):
            return value or {}
        self.fault(name, _("must be an object"))
        return {}

    def fault(self, name: str, message: str) -> None:
        self._faults.setdefault(name, []).append(message)

    def done(self) -> None:
        """Raise Refused (invalid) when anything was wrong, or something is there that nobody asked for."""
        for name in list(self._data)[:MOST_VALUES]:
            if name not in self._read:
                self.fault(name[:60], _("there is no such field"))
        if self._faults:
            raise refuse(Code.INVALID, _("Some fields cannot be used."), fields=self._faults)

    def _take(self, name: str) -> Any:
        self._read.add(name)
        return self._data.get(name)
