"""A proposal is taken whole or refused whole, and never brings a command."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.agents.answers.split_proposal import Refused, read_proposal
from aotloop.core.events import Child


def test_parts_come_with_names_dependencies_alternatives_and_estimates() -> None:
    parts = read_proposal(
        {
            "reason": "too big",
            "children": [
                {"name": "store", "description": "with files", "or_group": "how", "estimate": 5},
                {"name": "base", "description": "with a database", "or_group": "how"},
                {"description": "use it", "depends_on": ["store", "A0", "store", " "]},
            ],
        }
    )
    assert parts.reason == "too big"
    assert parts.children == (
        Child(name="store", description="with files", or_group="how", estimate=5.0),
        Child(name="base", description="with a database", or_group="how"),
        Child(description="use it", depends_on=("store", "A0")),
    )


def test_an_agent_cannot_choose_ids() -> None:
    (child,) = read_proposal({"children": [{"description": "x", "atom": "A1", "id": "A1"}]}).children
    assert child.atom is None


@pytest.mark.parametrize("key", ["run", "check"])
def test_a_command_is_refused_wherever_it_stands(key: str) -> None:
    with pytest.raises(Refused, match=f"it brings a command \\(`{key}`\\)"):
        read_proposal({"children": [{"description": "x"}, {"description": "y", key: "rm -rf /"}]})
    with pytest.raises(Refused, match="it brings a command"):
        read_proposal({"children": [{"description": "x"}], key: {"type": "command", "value": "x"}})


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("split it", "Expected `object`"),
        ([], "Expected `object`"),
        ({}, "children"),
        ({"children": []}, "no parts"),
        ({"children": ["x"]}, "Expected `object`"),
        ({"children": [{}]}, "description"),
        ({"children": [{"description": "\x1b[0m "}]}, "part 1 has no description"),
        ({"children": [{"description": "x", "name": "a"}] * 2}, "two parts are called a"),
        ({"children": [{"description": "x"}] * 51}, "51 parts are too many"),
        ({"children": [{"description": "x", "name": "a", "depends_on": ["a"]}]}, "a depends on itself"),
        ({"children": [{"description": "x", "name": "n" * 81}]}, "longer than 80"),
        ({"children": [{"description": "x", "estimate": 0}]}, "estimated at 0 minutes"),
        ({"children": [{"description": "x", "estimate": float("nan")}]}, "estimated at nan"),
        ({"children": [{"description": "x", "depends_on": "a"}]}, "Expected `array`"),
        ({"children": [{"description": "x", "depends_on": [str(n) for n in range(51)]}]}, "too many"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_a_reason(raw: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        read_proposal(raw)


def test_long_descriptions_are_cut() -> None:
    (child,) = read_proposal({"children": [{"description": "x" * 100_000}]}).children
    assert len(child.description) == 2000


def test_parts_say_what_they_cover_and_whether_they_want_a_look_first() -> None:
    covers = ["it  works", "it works", " ", "docs"]
    (child,) = read_proposal({"children": [{"description": "x", "covers": covers, "probe": True}]}).children
    assert child == Child(description="x", covers=("it works", "docs"), probe=True)
    (many,) = read_proposal({"children": [{"description": "x", "covers": [f"i{n}" for n in range(99)]}]}).children
    assert len(many.covers) == 50
