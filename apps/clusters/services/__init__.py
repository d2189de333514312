"""What is done to clusters and their machines; each verb is one transaction, people's changes with their audit row."""

from __future__ import annotations

from apps.clusters.services.adding import (
    Draft,
    accept,
    add_cluster,
    add_examined,
    credentials_fault,
    examine,
    look_over,
    rotate_credentials,
    rotate_examined,
)
from apps.clusters.services.checking import check, check_by_key, cluster_keys
from apps.clusters.services.contact import record_contact, record_silence
from apps.clusters.services.ground import assign_pool, install_priority_classes, label_nodes, priority_classes

__all__ = (
    "Draft",
    "accept",
    "add_cluster",
    "add_examined",
    "assign_pool",
    "check",
    "check_by_key",
    "cluster_keys",
    "credentials_fault",
    "examine",
    "install_priority_classes",
    "label_nodes",
    "look_over",
    "priority_classes",
    "record_contact",
    "record_silence",
    "rotate_credentials",
    "rotate_examined",
)
