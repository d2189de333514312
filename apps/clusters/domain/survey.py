"""What was found out about a cluster by asking it: every part is an answer or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.clusters.domain.rights import Right


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something could not be found out: a token of the check list, the numbers behind it, and what was said."""

    token: str
    text: str = ""
    numbers: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CertificateSeen:
    """The certificate that the server showed; ``fault`` is a token of the check list when it is not to be trusted."""

    until: datetime
    names: Sequence[str] = ()
    issuer: str = ""
    fault: str = ""
    checked: bool = True


@dataclass(frozen=True, slots=True)
class Survey:
    """``full`` has asked for rights, classes, storage and nodes too; None is what was not asked.

    ``skew`` is how many seconds the cluster's clock is ahead of ours; ``identity`` the uid of its namespace
    kube-system, which stays for the cluster's life, empty where it is not told. Objects are plain JSON, as untrusted
    as ever.
    """

    address: str = ""
    reached: Failure | None = None
    certificate: CertificateSeen | Failure | None = None
    by: str = "token"
    until: datetime | None = None
    version: str | Failure | None = None
    groups: frozenset[str] | Failure | None = None
    denied: Sequence[Right] | Failure | None = None
    priority_classes: Sequence[Mapping[str, Any]] | Failure | None = None
    storage_classes: Sequence[Mapping[str, Any]] | Failure | None = None
    nodes: Sequence[Mapping[str, Any]] | Failure | None = None
    skew: int | None = None
    identity: str = ""

    @property
    def answered(self) -> bool:
        """Whether a Kubernetes API let us in and said which version it is."""
        return self.fault is None and isinstance(self.version, str)

    @property
    def fault(self) -> Failure | None:
        """What stands between us and the cluster's answers, the first such thing; None when it answers."""
        for part in (self.reached, self.certificate, self.version, self.groups):
            if isinstance(part, Failure):
                return part
            if isinstance(part, CertificateSeen) and part.fault:
                return Failure(part.fault)
        return None
