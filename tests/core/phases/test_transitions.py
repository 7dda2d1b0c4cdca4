"""How a phase is left, and what is on record of it."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.phases.events import ErrorMet
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PhaseLoop
from tests.core.phases.loops import LATER, a_phase_loop, ended, filed, promised, receipt, walk_to


def refused(loop: PhaseLoop) -> PhaseLoop:
    return advance(loop, filed("plan", commit_known=False))[0]


def met(loop: PhaseLoop) -> PhaseLoop:
    return advance(loop, ErrorMet(at=LATER, message="a test failed"))[0]


def records(loop: PhaseLoop) -> list[tuple[bool, int]]:
    return [(one.refused, one.iteration) for one in loop.errors]


def test_a_refusal_takes_the_place_of_the_one_before_it_in_the_same_turn_and_of_nothing_else() -> None:
    loop = refused(refused(met(a_phase_loop(phase="plan"))))
    assert records(loop) == [(False, 0), (True, 0)]
    loop = met(loop)
    assert records(loop) == [(False, 0), (True, 0), (False, 0)]
    loop = refused(loop)
    assert records(loop) == [(False, 0), (True, 0), (False, 0), (True, 0)]
    loop = refused(refused(ended(1, loop)[0]))
    assert records(loop) == [(False, 0), (True, 0), (False, 0), (True, 0), (True, 1)]


def test_a_review_is_done_when_it_found_something_and_the_look_after_the_fix_is_not() -> None:
    loop, _ = advance(walk_to("review", a_phase_loop()), filed("review", open_findings=2))
    assert (loop.phase, loop.phases_completed[-1], loop.fix_review_cycles) == ("fix", "review", 0)
    loop, _ = advance(walk_to("re_review", loop), filed("re_review", open_findings=2))
    assert (loop.phase, loop.phases_completed[-1], loop.fix_review_cycles) == ("fix", "fix", 1)


def test_only_a_record_of_force_excuses_a_phase() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop()), filed("ship"))
    kept = tuple(one for one in loop.receipts if one.phase != "work")
    lost = a_phase_loop(phase="ship", receipts=kept)
    record = met(a_phase_loop(phase="work")).errors[0]
    for forced, told in ((False, "there is no receipt of work"), (True, "Finish()")):
        after = replace(lost, errors=(replace(record, forced=forced),))
        assert told in str(advance(after, promised())[1])


def test_a_brainstorm_is_owed_unless_it_is_skipped() -> None:
    loop, _ = advance(walk_to("ship", a_phase_loop(skip_brainstorm=True)), filed("ship"))
    assert receipt("brainstorm") not in loop.receipts
    owed = a_phase_loop(phase="ship", receipts=loop.receipts)
    assert "there is no receipt of brainstorm" in str(advance(owed, promised())[1])
