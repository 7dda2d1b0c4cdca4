"""What a coordinator is told again and again is small, and says which of a few situations it is in."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from aotloop.app.session.situation import LARGEST, Briefing, briefing
from aotloop.core.model import Atom, Constraints, Decomposition, Loop, TrailEntry
from tests.hooks.situations import COMMIT, driven, judged
from tests.loops import atom


def told(loop: Loop) -> Briefing:
    return briefing(loop, COMMIT)


def failure(name: str, reason: str) -> TrailEntry:
    return TrailEntry(type="failure", atom=name, reason=reason, timestamp="2026-01-01T00:00:00Z")


def a_large_loop(in_progress: int) -> Loop:
    """A thousand atoms, of which each could start, with long texts."""
    atoms = [atom(f"a-rather-long-name-of-an-atom-{number}", description="ä" * 5000) for number in range(1000)]
    atoms[:in_progress] = [replace(one, status="in_progress") for one in atoms[:in_progress]]
    loop = driven(*atoms, limits=Constraints(max_parallel_agents=200))
    loop.trail += [failure(one.id, "ü" * 10_000) for one in atoms]
    loop.objective = replace(loop.objective, goal="g" * 100_000)
    return loop


@pytest.mark.parametrize("in_progress", [0, 100, 200])
def test_at_a_thousand_atoms_it_has_at_most_two_kilobytes(in_progress: int) -> None:
    found = told(a_large_loop(in_progress))
    assert len(msgspec.json.encode(found)) <= LARGEST == 2000
    assert found.unresolved == 1000
    assert found.situation == ("wait" if in_progress == 200 else "start")
    assert len(found.failed_last) == 3
    assert found.not_shown == 200 - len(found.start) - len(found.in_progress)


def test_it_tells_what_may_start_what_failed_last_and_the_limits() -> None:
    loop = driven(
        atom("A1", failures=2, partial=True),
        atom("A2", probe=True),
        atom("A3", "A1"),
        atom("A4", run="make x", failures=1),
        limits=Constraints(max_parallel_agents=3),
    )
    loop.trail += [failure("A1", "the port was taken"), failure("removed", "x"), failure("A1", "no such option")]
    data: dict[str, Any] = msgspec.to_builtins(told(loop))
    assert data["situation"] == "start"
    started = {one["id"]: one for one in data["start"]}
    assert set(started) == {"A1", "A2", "A4"}
    assert started["A1"] == {
        "id": "A1",
        "what": "do A1",
        "agent": "worker",
        "failures": 2,
        "note": "part of its work holds",
    }
    assert started["A2"]["agent"] == "probe"
    assert "only if something that it needs has changed" in started["A4"]["note"]
    assert data["failed_last"] == ("A1: no such option", "A1: the port was taken")
    assert data["limits"]["agents_at_once"] == 3
    assert data["limits"]["iteration"].endswith(" of 20")
    assert "bindings" not in data


SPLIT = Decomposition(parent="A1", children=("A2",), reason="r")


@pytest.mark.parametrize(
    ("loop", "situation"),
    [
        (driven(atom("A1"), status="stopped"), "over"),
        (driven(atom("A1"), stop_requested=True), "over"),
        (driven(atom("A1"), redirect_requested=True), "over"),
        (driven(atom("A1")), "start"),
        (driven(atom("A1", status="in_progress"), atom("A2", "A1")), "wait"),
        (driven(atom("A1", status="resolved")), "verify"),
        (judged(driven(atom("A1", status="resolved")), passed=True), "end"),
        (judged(driven(atom("A1", status="resolved")), passed=True, commit="another"), "verify"),
    ],
)
def test_the_situation_is_decided_here_and_not_by_a_model(loop: Loop, situation: str) -> None:
    assert told(loop).situation == situation


def test_a_parent_whose_parts_are_all_resolved_is_to_be_checked() -> None:
    parts: list[Atom] = [atom("A1"), atom("A2", status="resolved")]
    loop = driven(*parts)
    loop.decompositions.append(SPLIT)
    found = told(loop)
    assert (found.situation, found.check) == ("check", ("A1",))
