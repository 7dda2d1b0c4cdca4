"""The loop in memory and the loop in the file change together, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.core import effects, events
from aotloop.core.machine import advance
from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.errors import StateFileInvalid, StateFileMissing, Unavailable
from aotloop.runner.ledger import Exchanged, Ledger, Rules
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom
from tests.patience import until
from tests.runner.projects import write_state

NOON = "2026-03-03T12:00:00Z"


def no_objection(_: Loop, __: bool) -> str | None:
    return None


def nothing_at_once(_: effects.Effect, __: Exchanged) -> reports.Report | None:
    return None


class Opened:
    def __init__(
        self,
        folder: Path,
        loop: Loop | None = None,
        objection: Callable[[Loop, bool], str | None] = no_objection,
        at_once: Callable[[effects.Effect, Exchanged], reports.Report | None] = nothing_at_once,
    ) -> None:
        self.path = folder / "state.md"
        write_state(self.path, loop if loop is not None else a_loop(atom("A1"), atom("A2"), status="pending"))
        self.other = Store(str(self.path))
        store = Store(str(self.path))
        self.run = Run(store.load())
        self.ledger = Ledger(store, self.run, Rules(objection=objection, at_once=at_once))

    def begin(self) -> Exchanged:
        return self.ledger.exchange([reports.Began(at=NOON, run_id="r1", objective_digest="d1")])


def test_what_was_conducted_is_in_the_file_before_anybody_acts_on_it(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    exchanged = opened.begin()
    assert exchanged.effects == [effects.VerifyBaseCase(number=1)]
    assert opened.other.load() == opened.run.loop == opened.ledger.loop
    assert opened.other.load().control.run_id == "r1"


def test_the_value_it_hands_out_is_changed_by_nobody(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    before = opened.ledger.loop
    opened.ledger.exchange([reports.Happened(at=NOON, event=events.StopRequested(reason="enough"))])
    assert before.control.status == "running"
    assert opened.ledger.loop.control.status == "stopped"


def test_what_others_did_is_taken_in_before_what_is_reported(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    opened.other.update(lambda loop: advance(loop, events.StopRequested(reason="enough")))
    assert opened.ledger.is_stale
    order: list[bool] = []

    def deed(_: Exchanged) -> None:
        order.append(opened.run.finished)

    exchanged = opened.ledger.exchange([deed])
    assert order == [True]
    assert effects.Finished(status="stopped", reason="user: enough") in exchanged.effects


def test_after_an_exchange_the_file_is_known(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    assert not opened.ledger.is_stale


def test_a_correction_replaces_the_loop_and_names_what_it_undid(tmp_path: Path) -> None:
    loop = a_loop(atom("B1", or_group="G", status="resolved"), atom("B2", or_group="G"), atom("A1"), status="pending")
    opened = Opened(tmp_path, loop)
    opened.begin()
    forced = events.ChoiceForced(or_group="G", choice="B2", description="the other one", at=NOON)
    opened.other.update(lambda found: advance(found, forced))
    exchanged = opened.ledger.exchange([])
    assert opened.run.loop.or_groups["G"].selected == "B2"
    assert exchanged.taken == ["graph changed: the other one"]
    assert exchanged.effects[-2:] == [effects.CancelVerification(number=1), effects.Revert(atoms=("B1",))]


def test_an_objection_halts_the_run_and_leaves_the_edit_in_the_file(tmp_path: Path) -> None:
    opened = Opened(tmp_path, objection=lambda _, is_other: "blocked: changed" if is_other else None)
    opened.begin()
    text = opened.path.read_text()
    opened.path.write_text(text.replace("It works", "It works better"))
    exchanged = opened.ledger.exchange([])
    assert effects.Finished(status="stopped", reason="blocked: changed") in exchanged.effects
    assert opened.other.load().objective.goal == "It works better"
    assert opened.other.load().control.stop_reason == "blocked: changed"


def test_before_anything_began_a_change_is_simply_what_the_file_says(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.other.update(lambda loop: advance(loop, events.AtomAdded(description="more", atom="A3")))
    exchanged = opened.begin()
    assert [one.id for one in opened.run.loop.atoms] == ["A1", "A2", "A3"]
    assert exchanged.taken == []


def test_before_anything_began_an_objection_is_an_error(tmp_path: Path) -> None:
    opened = Opened(tmp_path, objection=lambda *_: "blocked: changed")
    opened.other.update(lambda loop: advance(loop, events.AtomAdded(description="more", atom="A3")))
    with pytest.raises(Unavailable, match="changed"):
        opened.begin()
    assert opened.other.load().control.status == "pending"


def test_a_file_that_cannot_be_understood_leaves_the_loop_where_it_was(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    good = opened.path.read_bytes()
    opened.path.write_bytes(b"---\natoms: [\n---\n")
    with pytest.raises(StateFileInvalid):
        opened.ledger.exchange([reports.Happened(at=NOON, event=events.StopRequested())])
    assert opened.run.loop.control.status == "running"
    assert opened.path.read_bytes() == b"---\natoms: [\n---\n"
    opened.path.write_bytes(good)
    opened.ledger.exchange([])
    assert opened.other.load().control.status == "stopped"


def test_a_file_that_is_gone_is_not_brought_back(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    opened.path.unlink()
    with pytest.raises(StateFileMissing):
        opened.ledger.exchange([reports.Happened(at=NOON, event=events.StopRequested())])
    assert not opened.path.exists()


def test_an_effect_that_needs_no_work_is_answered_in_the_same_exchange(tmp_path: Path) -> None:
    answered: list[effects.Effect] = []

    def at_once(effect: effects.Effect, _: Exchanged) -> reports.Report | None:
        if isinstance(effect, effects.Integrate):
            answered.append(effect)
            return reports.Merged(at=NOON, attempt=effect.attempt)
        return None

    opened = Opened(tmp_path, at_once=at_once)
    opened.begin()
    verdict = reports.Verified(at=NOON, number=1, verdict=_failing(opened.run.loop), evidence={"x": "red"})
    opened.ledger.exchange([verdict])
    exchanged = opened.ledger.exchange([reports.WorkDone(at=NOON, attempt=1, summary="did it")])
    assert len(answered) == 1
    assert opened.other.load().atoms[0].status == "resolved"
    assert not [one for one in exchanged.effects if isinstance(one, effects.Integrate)]


def _failing(loop: Loop) -> Verdict:
    return Verdict(passed=False, objective_digest=digest_of(loop.objective), at=NOON, failing=("x",))


def test_time_that_goes_by_is_noted_with_what_is_reported(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    before = opened.path.read_bytes()
    opened.ledger.exchange([])
    assert opened.path.read_bytes() == before

    def ran_seconds() -> float:
        opened.ledger.exchange([reports.WaitOver(at=NOON, atom="A1")])
        return opened.other.load().control.ran_seconds

    until(ran_seconds, "time that is too short to be written down has to add up")


def test_a_file_that_needs_the_careful_reader_is_told_once(tmp_path: Path) -> None:
    opened = Opened(tmp_path)
    opened.begin()
    assert opened.ledger.warnings() == []
    text = opened.path.read_text()
    assert "depends_on: []" in text
    opened.path.write_text(text.replace("depends_on: []", "depends_on: &none []", 1))
    opened.ledger.exchange([reports.Happened(at=NOON, event=events.Spent())])
    (said,) = opened.ledger.warnings()
    assert "careful reader" in said
    assert opened.ledger.warnings() == []
