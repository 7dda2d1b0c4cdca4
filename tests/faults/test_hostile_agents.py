"""A sample of the campaign of hostile agents: they really work, and nothing of it gets through."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.hostile_agents import SCRIPTS, attacked

from tests.process.sandbox.worlds import engines

SAMPLE = ["reads secrets", "confirms without variables", "links to secrets", "outlives as daemon"]


@pytest.mark.skipif("bwrap" not in engines(), reason="bubblewrap does not work here")
def test_nothing_of_a_sample_gets_through(tmp_path: Path) -> None:
    assert set(SAMPLE) <= set(SCRIPTS)
    assert list(attacked(tmp_path, "bwrap", SAMPLE)) == []
