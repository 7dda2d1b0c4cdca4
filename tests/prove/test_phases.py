"""The model checker of the phase loop: no path breaks a law, and every planted fault does."""

from __future__ import annotations

import pytest
from prove.phase_faults import FAULTS, Fault
from prove.phases import SETTINGS, Setting, explore

FULL_WALK = 250


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_no_path_breaks_a_law(setting: Setting) -> None:
    explored = explore(setting)
    assert explored.found == []
    assert explored.states > FULL_WALK or setting.max_iterations == 1


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_a_planted_fault_is_found(fault: Fault) -> None:
    with fault.planted():
        assert explore(fault.setting).found != []
    assert explore(Setting(max_iterations=1)).found == [], "the fault is not taken back"
