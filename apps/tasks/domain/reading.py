"""Reading untrusted JSON strictly: every fault under its path, sizes bounded, unknown names refused (rest.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar

from apps.kernel.errors import Code, Refusal
from apps.kernel.quantities import QuantityError, format_duration, parse_duration
from apps.kernel.text import say as _

Word = TypeVar("Word", bound=StrEnum)
Amount = TypeVar("Amount", bound=int)
TextCheck = Callable[[str], str | None]

MOST_FAULTS = 100
LONGEST_SHOWN = 60
_UNCLEAN = re.compile("[\x00\ud800-\udfff]")


def shown(text: object) -> str:
    """Untrusted text fit for a message or a path: short, and safe to encode."""
    return _UNCLEAN.sub("�", str(text))[:LONGEST_SHOWN]


def text_fault(text: str, longest: int) -> str | None:
    """Why the text cannot be kept: NUL characters, lone surrogates, or too long (in characters)."""
    if len(text) > longest:
        return _("at most %(longest)d characters, this has %(length)d", longest=longest, length=len(text))
    if _UNCLEAN.search(text):
        return _("holds a character that cannot be stored (NUL or half of a surrogate pair)")
    return None


def type_word(value: object) -> str:
    """The JSON type of a value, for a message."""
    for python, word in (
        (bool, _("a boolean")),
        ((int, float), _("a number")),
        (str, _("text")),
        (Mapping, _("an object")),
        (Sequence, _("a list")),
    ):
        if isinstance(value, python):
            return word
    return _("nothing")


class Faults:
    """Collects messages per field path; at most 100 paths, since the input may be hostile."""

    def __init__(self) -> None:
        self.by_path: dict[str, list[str]] = {}

    def add(self, path: str, message: str) -> None:
        if path in self.by_path or len(self.by_path) < MOST_FAULTS:
            self.by_path.setdefault(path, []).append(message)

    def refusal(self) -> Refusal | None:
        """One refusal for everything found, or None; its detail is the first message with its path."""
        if not self.by_path:
            return None
        path, messages = next(iter(self.by_path.items()))
        detail = _("%(path)s: %(message)s", path=path, message=messages[0]) if path else messages[0]
        return Refusal(Code.INVALID, detail, dict(self.by_path))


class Fields:
    """One JSON object being read. Each method reads one name and gives its default where the value is faulty."""

    def __init__(self, data: object, path: str, faults: Faults) -> None:
        self.path, self.faults = path, faults
        self._read: set[str] = set()
        self._data: Mapping[object, object] = data if isinstance(data, Mapping) else {}
        self._readable = isinstance(data, Mapping)
        if not self._readable:
            faults.add(path, _("must be an object, this is %(type)s", type=type_word(data)))

    def at(self, name: object) -> str:
        return f"{self.path}.{name}" if self.path else str(name)

    def fault(self, name: str, message: str) -> None:
        """Note a fault under the name; what is no object at all has that one fault and no missing parts besides."""
        if self._readable:
            self.faults.add(self.at(name), message)

    def raw(self, name: str) -> object:
        """The value as given, None where it is null or missing."""
        self._read.add(name)
        return self._data.get(name)

    def text(self, name: str, *, longest: int, check: TextCheck | None = None, needed: bool = False) -> str:
        value = self.raw(name)
        if value is None:
            if needed:
                self.fault(name, _("is needed"))
            return ""
        if not isinstance(value, str):
            self.fault(name, _("must be text, this is %(type)s", type=type_word(value)))
            return ""
        message = text_fault(value, longest) or (check(value) if check is not None else None)
        if message is not None:
            self.fault(name, message)
        return value

    def word(self, name: str, words: type[Word], default: Word, *, needed: bool = False) -> Word:
        value = self.raw(name)
        if value is None and not needed:
            return default
        if isinstance(value, str) and value in {word.value for word in words}:
            return words(value)
        self.fault(name, _("must be one of %(words)s", words=", ".join(words)))
        return default

    def whole(self, name: str, default: Amount, *, low: int, high: int) -> Amount | int:
        value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.fault(name, _("must be a whole number, this is %(type)s", type=type_word(value)))
            return default
        if not low <= value <= high:
            self.fault(name, _("must be between %(low)d and %(high)d", low=low, high=high))
            return default
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.raw(name)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.fault(name, _("must be true or false, this is %(type)s", type=type_word(value)))
        return default

    def quantity(self, name: str, parse: Callable[[str], Amount]) -> Amount | None:
        """A Kubernetes quantity above zero, as text."""
        given = self.text(name, longest=40)
        if not isinstance(self._data.get(name), str) or self.at(name) in self.faults.by_path:
            return None
        try:
            amount = parse(given)
        except QuantityError as error:
            self.fault(name, error.args[0])
            return None
        if amount < 1:
            self.fault(name, _("must be more than nothing"))
            return None
        return amount

    def seconds(self, name: str, default: int) -> int:
        """A duration such as 30m, as whole seconds."""
        given = self.text(name, longest=40)
        if not isinstance(self._data.get(name), str) or self.at(name) in self.faults.by_path:
            return default
        try:
            return int(parse_duration(given).total_seconds())
        except QuantityError as error:
            self.fault(name, error.args[0])
            return default

    def items(self, name: str, *, most: int) -> Sequence[object]:
        value = self.raw(name)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            self.fault(name, _("must be a list, this is %(type)s", type=type_word(value)))
            return ()
        if len(value) > most:
            self.fault(name, _("at most %(most)d, these are %(count)d", most=most, count=len(value)))
            return ()
        return value

    def objects(self, name: str, *, most: int) -> list[Fields]:
        return [
            Fields(item, f"{self.at(name)}.{place}", self.faults)
            for place, item in enumerate(self.items(name, most=most))
        ]

    def texts(self, name: str, *, most: int, longest: int) -> tuple[str, ...]:
        found: list[str] = []
        for place, item in enumerate(self.items(name, most=most)):
            if not isinstance(item, str):
                self.fault(f"{name}.{place}", _("must be text, this is %(type)s", type=type_word(item)))
            elif message := text_fault(item, longest):
                self.fault(f"{name}.{place}", message)
            else:
                found.append(item)
        return tuple(found)

    def pairs(self, name: str, *, most: int, key: TextCheck, value: TextCheck, total: int) -> dict[str, str]:
        """An object of text to text; anything else is refused with its key named (F29)."""
        given = self.raw(name)
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            self.fault(name, _("must be an object, this is %(type)s", type=type_word(given)))
            return {}
        if len(given) > most:
            self.fault(name, _("at most %(most)d, these are %(count)d", most=most, count=len(given)))
            return {}
        found: dict[str, str] = {}
        for entry, content in given.items():
            if message := _pair_fault(entry, content, key, value, total):
                self.fault(f"{name}.{shown(entry)}", message)
            else:
                found[entry] = content
        if sum(len(entry.encode()) + len(content.encode()) for entry, content in found.items()) > total:
            self.fault(name, _("together at most %(total)d bytes", total=total))
        return found

    def close(self) -> None:
        """Refuse what nobody read, by name."""
        for name in self._data:
            if name not in self._read:
                self.fault(shown(name), _("there is no such field"))


def _pair_fault(entry: object, content: object, key: TextCheck, value: TextCheck, longest: int) -> str | None:
    if not isinstance(entry, str):
        return _("the name must be text, this is %(type)s; put it in quotes", type=type_word(entry))
    if not isinstance(content, str):
        return _(
            "the value of “%(name)s” must be text, this is %(type)s; put it in quotes",
            name=shown(entry),
            type=type_word(content),
        )
    return text_fault(entry, LONGEST_KEY) or key(entry) or text_fault(content, longest) or value(content)


LONGEST_KEY = 317


def duration_text(seconds: int) -> str:
    """Whole seconds as the text that ``Fields.seconds`` reads back."""
    return format_duration(timedelta(seconds=seconds))
