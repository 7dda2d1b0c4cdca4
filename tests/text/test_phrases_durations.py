"""Durations are read at a glance."""

from __future__ import annotations

import math

import pytest

from aotloop.text.phrases import ago, lasting


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (8.9, "8s"),
        (252, "4m 12s"),
        (7380, "2h 03m"),
        (273_600, "3d 04h"),
        (-1, "0s"),
        (math.inf, "0s"),
        (math.nan, "0s"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, shown: str) -> None:
    assert lasting(seconds) == shown
    assert ago(seconds) == f"{shown.split(' ', maxsplit=1)[0]} ago"
