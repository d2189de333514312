"""The kinds that work, by name: adding one is a folder and a line here (docs: how to add a kind)."""

from __future__ import annotations

from collections.abc import Mapping

from apps.tasks.domain.spec import KindName
from apps.tasks.kinds.base import Kind
from apps.tasks.kinds.deployment.kind import DEPLOYMENT
from apps.tasks.kinds.job.kind import JOB

KINDS: Mapping[KindName, Kind] = {kind.name: kind for kind in (JOB, DEPLOYMENT)}
