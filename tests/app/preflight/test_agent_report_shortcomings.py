"""What an agent does not do by itself is said where it matters to the loop, once for each matter, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.agents.contract import Capabilities, Support
from aotloop.app.preflight.agent_report import Matters, matters_of, shortcomings
from aotloop.core.limits import limits_of
from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Criterion,
    Loop,
    OrGroup,
    Prices,
)
from tests.loops import a_loop, atom

FULL = Capabilities(structured_output="native", tool_restriction="native", cost_report="native")
ALL = Matters(max_cost_usd=5.0, only_looks=True)


def told(matters: Matters = ALL, **lacking: Support) -> list[str]:
    return list(shortcomings("mine", replace(FULL, **lacking), matters))


def test_of_an_agent_that_does_it_all_nothing_is_said() -> None:
    assert told() == []
    assert told(sessions="missing", interrupt="emulated") == []


def test_a_limit_of_cost_cannot_hold_if_nobody_tells_the_cost() -> None:
    (text,) = told(cost_report="missing")
    assert "mine" in text
    assert "so the limit of $5.00 cannot be kept" in text
    assert told(Matters(only_looks=True), cost_report="missing") == []
    (text,) = told(cost_report="emulated")
    assert "price" in text


@pytest.mark.parametrize("support", ["missing", "emulated"])
def test_whether_it_can_be_kept_from_writing_matters_to_those_who_only_look(support: Support) -> None:
    (text,) = told(tool_restriction=support)
    assert "findings do not count" in text
    assert told(Matters(max_cost_usd=5.0), tool_restriction=support) == []


@pytest.mark.parametrize("support", ["missing", "emulated"])
def test_answers_matter_to_every_loop(support: Support) -> None:
    (text,) = told(Matters(), structured_output=support)
    assert "answer" in text


def test_there_is_one_line_for_each_matter() -> None:
    lines = told(structured_output="missing", tool_restriction="missing", cost_report="missing")
    assert len(lines) == len(set(lines)) == 3


JUDGED = Check(type="quality", rubric=(Criterion(criterion="it is short", weight=1.0),))


@pytest.mark.parametrize(
    ("change", "looks"),
    [
        ({}, False),
        ({"atoms": (atom("A1", probe=True),)}, True),
        ({"atoms": (atom("A1", probe=True, status="resolved"),)}, False),
        ({"choices": 3}, False),
        ({"choices": 2, "probes": 1}, True),
        ({"choices": 2, "probes": 1, "speculative": True}, False),
        ({"probes": 1}, False),
        ({"atoms": (atom("A1", check=AtomCheck(type="assertion", value="it is good")),)}, True),
        ({"atoms": (atom("A1", check=AtomCheck(type="command", value="true")),)}, False),
        ({"item": JUDGED}, True),
    ],
)
def test_somebody_only_looks_where_there_are_probes_or_judges(change: dict[str, Any], looks: bool) -> None:
    assert matters_of(a_loop_with(**change), limits_of(Constraints())).only_looks is looks


def a_loop_with(
    *,
    atoms: tuple[Any, ...] = (),
    choices: int = 0,
    speculative: bool = False,
    item: Check | None = None,
    probes: int = 0,
) -> Loop:
    """`probes`: so many were made before."""
    ways = tuple(atom(f"W{one}", or_group="way") for one in range(choices))
    names = tuple(one.id for one in ways)
    groups = {"way": OrGroup(choices=names, selected=names[0], speculative=speculative)} if ways else {}
    loop = a_loop(*(atoms or (atom("A0"),)), *ways, or_groups=groups)
    loop.control = replace(loop.control, prices=Prices(probes=probes))
    if item is not None:
        base_case = BaseCase(checklist=(ChecklistItem(item="it is good", check=item),))
        loop.objective = replace(loop.objective, base_case=base_case)
    return loop


def test_the_limit_that_counts_is_the_one_of_the_run() -> None:
    assert matters_of(a_loop(atom("A1")), limits_of(Constraints(max_cost_usd=2.5))).max_cost_usd == 2.5
