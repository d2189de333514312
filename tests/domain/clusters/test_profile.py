"""A cluster's profile as it is kept: read whole, or refused."""

from __future__ import annotations

import msgspec
import pytest

from apps.clusters.domain.profile import ClusterProfile, Preference, read_profile


def test_a_profile_is_read_with_its_preferences() -> None:
    preference = {"key": "zone", "operator": "In", "values": ["a"], "weight": 10}
    stored = {"scheduler_name": "volcano", "preferences": [preference], "pre_stop_seconds": 5}
    assert read_profile(stored) == ClusterProfile(
        scheduler_name="volcano", preferences=(Preference("zone", "In", ("a",), 10),), pre_stop_seconds=5
    )
    assert read_profile({}) == ClusterProfile()


def test_what_is_no_profile_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        read_profile({"pre_stop_seconds": "soon"})
