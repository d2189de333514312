"""What single texts must look like: images, labels, environment names, mount paths (Kubernetes, domain.md §10)."""

from __future__ import annotations

import re

from apps.kernel.names import DNS_1123_LABEL
from apps.kernel.text import say as _
from apps.tasks.domain.naming import OWN_PREFIX

_IMAGE = re.compile(
    r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]{0,252}[a-zA-Z0-9])?(?::[0-9]{1,5})?/)?"
    r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[a-z0-9]{1,20}:[0-9a-fA-F]{32,128})?"
)
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_PORT_NAME = re.compile(r"(?=[a-z0-9-]*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_HIDDEN_PATHS = ("/proc", "/sys", "/var/run/secrets", "/run/secrets")
# Kubernetes and its controllers own these; a user's value would be overwritten or break a selector.
_OWNED_LABELS = frozenset({"job-name", "controller-uid", "pod-template-hash", "controller-revision-hash"})


def image_fault(image: str) -> str | None:
    """Why the text is no image reference ``[registry/]name[:tag][@digest]``."""
    if _IMAGE.fullmatch(image):
        return None
    return _("is no image reference; write for example registry/train:1")


def container_name_fault(name: str) -> str | None:
    if DNS_1123_LABEL.fullmatch(name):
        return None
    return _("lower-case letters, digits and hyphens, beginning and ending with a letter or digit, at most 63")


def env_name_fault(name: str) -> str | None:
    if len(name) <= 253 and _ENV_NAME.fullmatch(name):
        return None
    return _("letters, digits, _, - and . only, not beginning with a digit")


def port_name_fault(name: str) -> str | None:
    """Why the text is no IANA service name (RFC 6335, at most 15 characters)."""
    if len(name) <= 15 and _PORT_NAME.fullmatch(name):
        return None
    return _("lower-case letters, digits and single hyphens, at least one letter, at most 15 characters")


def claim_fault(name: str) -> str | None:
    if len(name) <= 253 and _SUBDOMAIN.fullmatch(name):
        return None
    return _("is no name of a claim: lower-case letters, digits, hyphens and dots")


def qualified_fault(key: str) -> str | None:
    """Why the text is no Kubernetes label or annotation key ``[prefix/]name``."""
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= 253 and _SUBDOMAIN.fullmatch(prefix)):
        return _("the part before “/” must be a domain name")
    if not (len(name) <= 63 and _LABEL_PART.fullmatch(name)):
        return _("letters, digits, -, _ and . only, beginning and ending with a letter or digit, at most 63")
    return None


def label_value_fault(value: str) -> str | None:
    if not value or (len(value) <= 63 and _LABEL_PART.fullmatch(value)):
        return None
    return _("letters, digits, -, _ and . only, beginning and ending with a letter or digit, at most 63")


def own_key_fault(key: str) -> str | None:
    """A key that users may set on objects: qualified and not one of the platform's own."""
    if key.startswith(OWN_PREFIX):
        return _("names under %(prefix)s are the platform's own", prefix=OWN_PREFIX)
    return qualified_fault(key)


def label_key_fault(key: str) -> str | None:
    """A label that users may set: neither the platform's own nor Kubernetes' own."""
    domain = key.rpartition("/")[0]
    if key in _OWNED_LABELS or domain.endswith(("kubernetes.io", "k8s.io")):
        return _("this label is Kubernetes' own")
    return own_key_fault(key)


def plain_path(path: str) -> str:
    """The path without doubled slashes, ``.`` and a closing slash: the form in which two paths are compared."""
    return "/" + "/".join(part for part in path.split("/") if part not in {"", "."})


def mount_path_fault(path: str) -> str | None:
    """Why nothing may be mounted there (domain.md §10, last line)."""
    if not path.startswith("/"):
        return _("must be an absolute path")
    if ".." in path.split("/") or ":" in path:
        return _("must hold neither “..” nor “:”")
    plain = plain_path(path)
    if plain == "/":
        return _("the root of the container cannot be mounted over")
    for hidden in _HIDDEN_PATHS:
        if f"{plain}/".startswith(f"{hidden}/"):
            return _("%(path)s belongs to the system", path=hidden)
    return None
