"""Label selectors as the Kubernetes API reads them: ``a=b  a!=b  a  !a  a in (b,c)  a notin (b)``, parted by commas."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_PART = re.compile(
    r"\s*(?:(!)\s*([^\s!=,()]+)|([^\s!=,()]+)\s*(?:(==?|!=)\s*([^\s=,()]*)|\s(in|notin)\s*\(([^)]*)\))?)\s*(?:,|$)"
)


def matches(labels: Mapping[str, object], selector: Mapping[str, str] | str | None) -> bool:
    """Whether the labels satisfy every part; raises ValueError for what is no selector."""
    if selector is None:
        return True
    if not isinstance(selector, str):
        return all(labels.get(key) == value for key, value in selector.items())
    parts = list(_parts(selector))  # read whole before the first answer, so that what is no selector is never one
    return all(_holds(labels, part) for part in parts)


def _parts(selector: str) -> Iterator[re.Match[str]]:
    place = 0
    while place < len(selector):
        part = _PART.match(selector, place)
        if part is None:
            raise ValueError(f"unable to parse requirement: {selector}")
        yield part
        place = part.end()


def _holds(labels: Mapping[str, object], part: re.Match[str]) -> bool:
    absent, absent_key, key, comparison, value, membership, listed = part.groups()
    if absent:
        return absent_key not in labels
    if comparison:
        return (labels.get(key) == value) == (comparison != "!=")
    if membership:
        return (labels.get(key) in [word.strip() for word in listed.split(",")]) == (membership == "in")
    return key in labels
