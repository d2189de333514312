from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.reconciler.plant import Plant, plant_of
from tests.support.world import World


@pytest.fixture
def plant(world: World) -> Iterator[Plant]:
    with plant_of(world) as made:
        yield made
