"""A verdict is fresh while nothing has changed that it could depend on."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.freshness import fresh_verdict
from aotloop.core.machine import advance
from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.errors import IllegalEvent
from tests.core.happenings import decompose, fail, resolve
from tests.loops import a_loop, atom

HEAD = "c" * 40


def judged(loop: Loop) -> Loop:
    verdict = Verdict(passed=True, objective_digest=digest_of(loop.objective), at="then", commit=HEAD)
    advance(loop, events.VerdictReached(verdict=verdict))
    return loop


def is_fresh(loop: Loop) -> bool:
    return fresh_verdict(loop, HEAD) is not None


def a_judged_loop() -> Loop:
    atoms = [atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"), atom("A3"), atom("A4", "A1")]
    return judged(a_loop(*atoms))


def test_it_is_fresh_as_long_as_nothing_happens_and_after_what_only_begins() -> None:
    loop = a_judged_loop()
    assert is_fresh(loop)
    advance(loop, events.AtomStarted(atom="A3"))
    advance(loop, events.AtomAbandoned(atom="A3"))
    advance(loop, events.AtomResolved(atom="A1", at="noon"))  # which it is already
    decompose(loop, "A3", "A5", "A6")
    advance(loop, events.GenerationBegan())
    assert is_fresh(loop)


@pytest.mark.parametrize(
    "happens",
    [
        lambda loop: resolve(loop, "A3"),
        lambda loop: fail(loop, "A3"),
        lambda loop: advance(loop, events.BranchSwitched(or_group="g", choice="A2", reason="no", at="noon")),
        lambda loop: advance(loop, events.ChoiceForced(or_group="g", choice="A2", description="that one", at="noon")),
    ],
    ids=["resolved", "failed", "reset", "reset by a person"],
)
def test_it_is_not_after_an_atom_was_resolved_reset_or_has_failed(happens: Any) -> None:
    loop = a_judged_loop()
    happens(loop)
    assert not is_fresh(loop)
    assert is_fresh(judged(loop))


def test_it_is_of_one_commit_and_of_one_objective() -> None:
    loop = a_judged_loop()
    assert fresh_verdict(loop, "d" * 40) is None
    assert fresh_verdict(loop, None) is None
    loop.objective = replace(loop.objective, goal="something else")
    assert not is_fresh(loop)


def test_without_git_there_is_no_commit_on_either_side() -> None:
    loop = a_loop(atom("A1"))
    verdict = Verdict(passed=False, objective_digest=digest_of(loop.objective), at="then", failing=("tests",))
    advance(loop, events.VerdictReached(verdict=verdict))
    assert fresh_verdict(loop, None) is not None


@given(st.lists(st.sampled_from(["start", "resolve", "fail", "abandon"]), max_size=12))
def test_once_outdated_it_stays_so_until_there_is_another(moves: list[str]) -> None:
    loop = a_judged_loop()
    resolve(loop, "A3")
    kinds: dict[str, Any] = {
        "start": events.AtomStarted(atom="A4"),
        "resolve": events.AtomResolved(atom="A4", at="noon"),
        "fail": events.AtomFailed(atom="A4", reason="no", at="noon"),
        "abandon": events.AtomAbandoned(atom="A4"),
    }
    for move in moves:
        with suppress(IllegalEvent):
            advance(loop, kinds[move])
        assert not is_fresh(loop)


def test_without_a_verdict_nothing_is_fresh() -> None:
    assert fresh_verdict(a_loop(atom("A1")), HEAD) is None


def test_what_is_outdated_already_is_not_written_again() -> None:
    loop = a_judged_loop()
    fail(loop, "A3")
    verdict = loop.control.verdict
    assert verdict is not None
    assert verdict.outdated
    fail(loop, "A4")
    assert loop.control.verdict is verdict
