"""What there is to do, and how it is told: nothing that does not count, and never much."""

from __future__ import annotations

import re
from pathlib import Path

from aotloop import hooks
from aotloop.core.graph.board import Board
from aotloop.core.model import Atom, AtomCheck, Decomposition, TrailEntry
from aotloop.core.policy.turns import patience
from aotloop.hooks.outlook import Outlook, last_failures, names, outlook
from tests.hooks.situations import driven
from tests.loops import atom
from tests.scripts.calling import SCRIPTS

CHECK = AtomCheck(type="command", value="true")


def of(*atoms: Atom, split: tuple[str, ...]) -> Outlook:
    loop = driven(*atoms)
    loop.decompositions = [Decomposition(parent=split[0], children=split[1:], reason="big")]
    return outlook(Board(loop, is_for_once=True))


def test_a_parent_is_checked_when_all_its_parts_are_resolved_and_not_before() -> None:
    done, todo = atom("A2", status="resolved"), atom("A3")
    assert of(atom("A1", check=CHECK), done, split=("A1", "A2")).to_check == ("A1",)
    assert of(atom("A1", check=CHECK), done, todo, split=("A1", "A2", "A3")).to_check == ()
    patient = patience(driven(atom("A2")))  # the parts bring attempts, the whole does not
    assert not of(atom("A1", check=CHECK, attempts=patient - 1), done, split=("A1", "A2")).is_empty
    assert of(atom("A1", check=CHECK, attempts=patient), done, split=("A1", "A2")).is_empty, "patience is at its end"


def test_a_parent_that_nobody_needs_is_not_checked() -> None:
    choices = atom("A1", or_group="g"), atom("A2", or_group="g", check=CHECK)
    assert of(*choices, atom("A3", status="resolved"), split=("A2", "A3")).to_check == ()


def test_every_script_that_is_named_is_there() -> None:
    texts = [path.read_text() for path in Path(hooks.__file__ or "").parent.glob("*.py")]
    named = {name for text in texts for name in re.findall(r"\b([a-z_]+)\.py\b", text)}
    assert len(named) > 10
    assert named <= set(SCRIPTS)


def test_failures_of_an_atom_that_was_removed_are_not_told() -> None:
    loop = driven(atom("A1"))
    loop.trail = [TrailEntry(type="failure", atom=one, reason="bad luck", timestamp="t") for one in ("A1", "gone")]
    assert last_failures(loop) == ["- A1: bad luck"]


def test_many_names_are_counted() -> None:
    assert names(["A1", "A2"]) == "A1, A2"
    assert names([f"A{number}" for number in range(1, 12)]) == "A1, A2, A3, A4, A5, A6, A7, A8 and 3 more"
