"""Seeds, found cases, and JSON with one surprising value in it, replayed; `make fuzz` looks for more."""

from __future__ import annotations

import pytest
from faults.fuzzing import seeds
from faults.fuzzing.targets import TARGETS
from faults.fuzzing.variants import SURPRISES, variants

SLOW = {"hook_payload": 8, "phase_file": 6}
"""Of these, every so many-th variant: each takes milliseconds. `make faults` has all of them."""


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_and_found_cases(target: str) -> None:
    given = list(seeds.of(target))
    assert len(given) > len(seeds.cases(target))
    for data in given:
        TARGETS[target](data)


@pytest.mark.parametrize("target", [name for name in TARGETS if any(seeds.surprising(name))])
def test_one_surprising_value_in_what_is_read(target: str) -> None:
    for number, data in enumerate(seeds.surprising(target)):
        if number % SLOW.get(target, 1) == 0:
            TARGETS[target](data)


def test_every_folder_of_cases_belongs_to_a_target() -> None:
    assert {path.name for path in seeds.CASES.iterdir()} <= set(TARGETS)


def test_each_value_is_exchanged_for_each_surprise() -> None:
    found = list(variants({"a": [1, {"b": "c"}]}))
    assert len(found) == 4 * len(SURPRISES)
    assert b'{"a": [1, {"b": NaN}]}' in found
    assert b'{"a": [-1, {"b": "c"}]}' in found


def test_a_target_that_is_broken_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the readers before they were mended."""
    monkeypatch.setattr("aotloop.agents.acp.updates._MOST_USD", float("inf"))
    (case,) = (path for path in seeds.cases("acp_updates") if path.name == "a-cost-of-400-digits")
    with pytest.raises(OverflowError):
        TARGETS["acp_updates"](case.read_bytes())
