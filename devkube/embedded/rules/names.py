"""Names, labels and the metadata every object carries."""

import re

from devkube.embedded.errors import Cause, bad_value, refused, required
from devkube.embedded.objects import Obj, deleting, finalizers_of, meta

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_1123 = re.compile(_LABEL, re.ASCII)
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_1035 = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_QUALIFIED = re.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_ENV = re.compile("[ -<>-~]+", re.ASCII)
_PORT = re.compile("(?=.*[a-z])[a-z0-9]([a-z0-9]|-(?!-))*", re.ASCII)

SAYS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SAYS_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
SAYS_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is"
    " '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
SAYS_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
    " '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SAYS_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
    " character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
    " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


def dns_label(value: str) -> str:
    """Say what is wrong with an RFC 1123 label; empty when nothing is."""
    return _says(value, 63, _1123, SAYS_LABEL)


def dns_subdomain(value: str) -> str:
    """Say what is wrong with an RFC 1123 subdomain."""
    return _says(value, 253, _SUBDOMAIN, SAYS_SUBDOMAIN)


def dns_1035(value: str) -> str:
    """Say what is wrong with a DNS-1035 label."""
    return _says(value, 63, _1035, SAYS_1035)


def _says(value: str, longest: int, shape: re.Pattern[str], words: str) -> str:
    if len(value) > longest:
        return f"must be no more than {longest} bytes"
    return "" if shape.fullmatch(value) else words


def label_value(value: str) -> str:
    """Say what is wrong with a label's value."""
    return "" if value == "" else _says(value, 63, _QUALIFIED, SAYS_VALUE)


def qualified(key: str) -> str:
    """Say what is wrong with a qualified name (`prefix/name`)."""
    prefix, slash, name = key.rpartition("/")
    if slash and not prefix:
        return "prefix part must be non-empty"
    if prefix and (wrong := dns_subdomain(prefix)):
        return f"prefix part {wrong}"
    if not name:
        return "name part must be non-empty"
    wrong = _says(name, 63, _QUALIFIED, SAYS_QUALIFIED)
    return f"name part {wrong}" if wrong.startswith("must be") else wrong


def env_name(value: str) -> str:
    """Say what is wrong with the name of an environment variable."""
    if _ENV.fullmatch(value):
        return ""
    return "a valid environment variable name must consist only of printable ASCII characters other than '='"


def port_name(value: str) -> str:
    """Say what is wrong with an IANA service name."""
    if len(value) > 15:
        return "must be no more than 15 characters"
    if not _PORT.fullmatch(value) or value.endswith("-"):
        return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), and at least one letter (a-z)"
    return ""


def check_labels(labels: Obj, path: str) -> list[Cause]:
    """Check the keys and values of labels."""
    causes = []
    for key, value in labels.items():
        if wrong := qualified(key):
            causes.append(bad_value(path, key, wrong))
        if wrong := label_value(value):
            causes.append(bad_value(path, value, wrong))
    return causes


def check_annotations(annotations: Obj, path: str) -> list[Cause]:
    """Check annotation keys and the total size."""
    causes = [bad_value(path, key, wrong) for key in annotations if (wrong := qualified(key.lower()))]
    if sum(len(key) + len(value.encode("utf-8", "replace")) for key, value in annotations.items()) > 256 * 1024:
        causes.append(Cause(path, "Too long: may not be more than 262144 bytes", "FieldValueTooLong"))
    return causes


def check_selector(selector: Obj | None, path: str) -> list[Cause]:
    """Check a metav1.LabelSelector."""
    selector = selector or {}
    causes = check_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for at, each in enumerate(selector.get("matchExpressions") or []):
        where, operator, values = f"{path}.matchExpressions[{at}]", each.get("operator", ""), each.get("values") or []
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            causes.append(bad_value(f"{where}.operator", operator, "not a valid selector operator"))
        elif operator in ("In", "NotIn") and not values:
            causes.append(required(f"{where}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist") and values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            causes.append(refused(f"{where}.values", why))
        if wrong := qualified(each.get("key", "")):
            causes.append(bad_value(f"{where}.key", each.get("key", ""), wrong))
    return causes


def check_meta(obj: Obj, name_rule: object) -> list[Cause]:
    """Check the metadata of a new object; `name_rule` is one of the rules above."""
    about = meta(obj)
    causes: list[Cause] = []
    if not about.get("name"):
        causes.append(required("metadata.name", "name or generateName is required"))
    elif callable(name_rule) and (wrong := name_rule(about["name"])):
        causes.append(bad_value("metadata.name", about["name"], wrong))
    causes += check_labels(about.get("labels") or {}, "metadata.labels")
    causes += check_annotations(about.get("annotations") or {}, "metadata.annotations")
    for at, finalizer in enumerate(about.get("finalizers") or []):
        if wrong := qualified(finalizer):
            causes.append(bad_value(f"metadata.finalizers[{at}]", finalizer, wrong))
    return causes + _check_owners(about.get("ownerReferences") or [])


def _check_owners(owners: list[Obj]) -> list[Cause]:
    causes = []
    for at, owner in enumerate(owners):
        missing = [key for key in ("apiVersion", "kind", "name", "uid") if not owner.get(key)]
        where = f"metadata.ownerReferences[{at}]"
        causes += [bad_value(f"{where}.{key}", "", f"{key} must not be empty") for key in missing]
    controllers = [owner for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        causes.append(bad_value("metadata.ownerReferences", "", "Only one reference can have Controller set to true"))
    return causes


def check_meta_update(new: Obj, old: Obj) -> list[Cause]:
    """Check what an update may not do to metadata."""
    causes = check_labels(meta(new).get("labels") or {}, "metadata.labels")
    causes += check_annotations(meta(new).get("annotations") or {}, "metadata.annotations")
    causes += _check_owners(meta(new).get("ownerReferences") or [])
    if deleting(old):
        added = [each for each in finalizers_of(new) if each not in finalizers_of(old)]
        if added:
            listed = ", ".join(f'"{each}"' for each in added)
            why = "no new finalizers can be added if the object is being deleted, found new finalizers "
            causes.append(refused("metadata.finalizers", f"{why}[]string{{{listed}}}"))
    return causes
