"""Consumers see what is committed only, so these tests commit."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.db import connection

from apps.clusters.models import Cluster
from apps.tasks.models import Task
from tests.support.running import a_running_task, a_shipping_cluster
from tests.support.world import World


@pytest.fixture
def world(transactional_db: None, now: datetime) -> World:
    """The cast, committed."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE logs_logline")
    return World(now)


@pytest.fixture
def cluster(world: World) -> Cluster:
    return a_shipping_cluster(world)


@pytest.fixture
def task(world: World, cluster: Cluster) -> Task:
    """A running task of the project, whose pods ship their lines."""
    return a_running_task(world, cluster)
