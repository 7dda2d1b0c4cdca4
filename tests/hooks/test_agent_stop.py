"""When whoever coordinates wants to end: each row of the table, in its order."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Decomposition,
    Loop,
    Steering,
    TrailEntry,
)
from aotloop.core.policy import turns
from aotloop.core.policy.turns import bad_luck, patience
from aotloop.hooks.agent_stop import Circumstances, mark_of
from aotloop.hooks.answers import Allow, Answer, Block
from aotloop.hooks.payload import MOST_IN_VAIN, Payload
from tests.hooks.situations import COMMIT, coordinator, driven, judged, lasted, session, stopped
from tests.loops import atom

AT = "2026-01-01T00:00:00Z"


def control_of(loop: Loop) -> tuple[str, int]:
    return loop.control.status, loop.control.iteration


def resolve(loop: Loop, *ids: str) -> None:
    for one in ids:
        advance(loop, events.AtomStarted(atom=one))
        advance(loop, events.AtomResolved(atom=one, summary="done", at=AT))


def fail(loop: Loop, one: str, reason: str = "it broke") -> None:
    advance(loop, events.AtomStarted(atom=one))
    advance(loop, events.AtomFailed(atom=one, reason=reason, at=AT))


def worn(loop: Loop, *ids: str) -> Loop:
    """These have failed as often as bad luck explains."""
    loop.atoms = [replace(one, failures=patience(loop)) if one.id in ids else one for one in loop.atoms]
    return loop


def lasts(loop: Loop) -> int:
    """Attempts that end in its next iteration."""
    graph = Graph(loop)
    return least_outcomes(graph, graph.unresolved())


def _failure() -> TrailEntry:
    return TrailEntry(reason="no", timestamp=AT, type="failure", atom="A1", attempt=1)


def reason_of(answer: Answer) -> str:
    assert isinstance(answer, Block)
    return answer.reason


# --- whose it is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        Payload(session_id="another"),
        Payload(session_id=""),
        Payload(),
        coordinator(session_id="another"),
        coordinator(agent_type="aot-loop:worker"),
        coordinator(agent_type="aot-loop:probe"),
        coordinator(agent_type="aot-loop:verifier"),
        coordinator(agent_type="general-purpose"),
        coordinator(agent_type="coordinator"),
        coordinator(agent_type="other:coordinator"),
        coordinator(agent_type=""),
    ],
)
def test_who_does_not_coordinate_this_loop_is_answered_nothing(payload: Payload) -> None:
    loop = driven(stop_requested=True)
    before = loop.snapshot()
    assert stopped(loop, payload) == Answer()
    assert loop == before


@pytest.mark.parametrize("bound", [None, ""])
def test_a_loop_that_no_session_has_entered_is_nobodys(bound: str | None) -> None:
    loop = driven(session_id=bound)
    assert stopped(loop, Payload(session_id="")) == stopped(loop) == Answer()
    assert control_of(loop) == ("running", 0)


def test_three_workers_that_stop_count_nothing_and_the_coordinator_counts_one() -> None:
    loop = driven(atom("A1"), atom("A2"), atom("A3"))
    for number in range(3):
        assert stopped(loop, coordinator(agent_type="aot-loop:worker", agent_id=f"w{number}")) == Answer()
    assert control_of(loop) == ("running", 0)
    assert isinstance(stopped(loop), Block)
    assert control_of(loop) == ("running", 1)


# --- what counts nothing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "stopped", "completed"])
def test_a_loop_that_does_not_run_keeps_nobody(status: Any) -> None:
    loop = driven(status=status)
    before = loop.snapshot()
    assert stopped(loop) == Allow()
    assert loop == before


def test_while_other_agents_work_whoever_wants_to_end_may_and_nothing_is_counted() -> None:
    loop = driven()
    running = [{"id": "b2", "type": "subagent", "status": "running"}]
    assert stopped(loop, coordinator(background_tasks=running)) == stopped(loop, session(background_tasks=running))
    assert stopped(loop, session(background_tasks=running)) == Allow()
    assert control_of(loop) == ("running", 0)


@pytest.mark.parametrize(
    "tasks",
    [
        None,
        [],
        [{"id": "a1", "type": "subagent", "status": "running"}],
        [{"id": "s1", "type": "shell", "status": "running"}],
        [{"id": "b2", "type": "subagent", "status": "completed"}],
    ],
    ids=["not told", "none", "only itself", "a server left running", "ended"],
)
def test_what_is_no_other_agent_at_work_does_not_keep_it_from_being_decided(tasks: Any) -> None:
    loop = driven()
    assert isinstance(stopped(loop, coordinator(background_tasks=tasks)), Block)
    assert control_of(loop) == ("running", 1)


def test_while_the_direction_is_being_changed_it_may_end_and_nothing_is_counted() -> None:
    loop = judged(driven(redirect_requested=True), passed=True)
    assert stopped(loop) == Allow()
    assert control_of(loop) == ("running", 0)


# --- ends --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("redirect", [False, True])
def test_a_stop_that_was_asked_for_stops_it_whatever_else_is_open(redirect: bool) -> None:
    loop = judged(driven(stop_requested=True, stop_reason="enough", redirect_requested=redirect), passed=True)
    assert stopped(loop) == Allow(message="The loop has stopped. user: enough")
    assert (loop.control.status, loop.control.stop_reason) == ("stopped", "user: enough")


def test_a_fresh_verdict_that_passed_completes_it_even_with_atoms_left() -> None:
    loop = judged(driven(atom("A1")), passed=True)
    answer = stopped(loop)
    assert isinstance(answer, Allow)
    assert answer.message is not None
    assert "completed" in answer.message
    assert control_of(loop) == ("completed", 1)


def test_a_verdict_on_something_that_was_not_agreed_on_completes_nothing() -> None:
    loop = judged(driven(atom("A1")), passed=True)
    now = Circumstances(at="2026-11-18T10:00:00Z", commit=COMMIT, objection=lambda _: "the objective was changed")
    assert isinstance(stopped(loop, now=now), Allow)
    assert (loop.control.status, loop.control.stop_reason) == ("stopped", "blocked: the objective was changed")


def test_a_fresh_verdict_counts_before_a_stall_would_take_it_back() -> None:
    """At one stall before the last another alternative would be taken, and everything built on this one reset."""
    loop = driven(atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"), stall_count=1)
    loop.control = replace(loop.control, prev_pending_count=0)
    assert isinstance(stopped(judged(loop, passed=True)), Allow)
    assert loop.control.status == "completed"


@pytest.mark.parametrize(
    "stale", [{"commit": "d" * 40}, {"commit": None}, {"objective_digest": "another"}, {"outdated": True}]
)
def test_a_verdict_of_something_else_completes_nothing(stale: dict[str, Any]) -> None:
    loop = judged(driven(atom("A1", status="resolved")), passed=True, **stale)
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert "Verify now" in answer.reason
    assert control_of(loop) == ("running", 1)


@pytest.mark.parametrize("happening", ["resolved", "failed", "reset"])
def test_what_happens_to_an_atom_makes_a_verdict_stale(happening: str) -> None:
    loop = driven(atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"), atom("A3"))
    judged(loop, passed=True)
    match happening:
        case "resolved":
            resolve(loop, "A3")
        case "failed":
            fail(loop, "A3")
        case _:
            advance(loop, events.BranchSwitched(or_group="g", choice="A2", reason="no", at=AT))
    assert isinstance(stopped(loop), Block)
    assert loop.control.status == "running"


# --- verdicts ----------------------------------------------------------------------------------------------------


def test_all_resolved_without_a_verdict_is_sent_back_once_to_verify_and_then_stops() -> None:
    loop = driven(atom("A1", status="resolved"))
    first = stopped(loop)
    assert isinstance(first, Block)
    assert "verify_checklist.py" in first.reason
    assert control_of(loop) == ("running", 1)
    assert stopped(loop) == Allow(
        message="The loop has stopped. stalled: the base case was to be verified, but it was not"
    )
    assert control_of(loop) == ("stopped", 1), "who is only asked for a verdict begins no other iteration"


def test_to_be_asked_for_a_verdict_is_no_stall() -> None:
    loop = driven(atom("A1"), atom("A2"), prev_pending_count=2)
    resolve(loop, "A1", "A2")
    stopped(loop)
    judged(loop, failing=("tests",))
    assert isinstance(stopped(loop), Block)
    assert (loop.control.stall_count, loop.control.iteration) == (0, 1)
    assert loop.control.prev_pending_count == 0, "it was judged before the repair was added"


def test_a_fresh_verdict_that_fails_makes_repairs_and_names_them() -> None:
    loop = judged(driven(atom("A1", status="resolved")), failing=("tests pass", "it is fast"))
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert [one.repairs for one in loop.atoms] == [None, "tests pass", "it is fast"]
    assert "A2" in answer.reason
    assert "A3" in answer.reason
    assert "tests pass" in answer.reason


def test_when_repairs_are_used_up_it_stops_as_exhausted() -> None:
    """As often as patience allows, which is six times what an atom usually needs."""
    limits = Constraints(max_stall_count=99, max_iterations=99, max_total_attempts=99)
    loop = driven(atom("A1", status="resolved"), limits=limits)
    for _ in range(patience(loop)):
        assert isinstance(stopped(judged(loop, failing=("tests",), repair_rounds=_rounds(loop))), Block)
        resolve(loop, *[one.id for one in loop.atoms if one.status == "pending"])
    stopped(judged(loop, failing=("tests",), repair_rounds=_rounds(loop)))
    assert loop.control.status == "stopped"
    assert (
        loop.control.stop_reason
        == 'exhausted: the base case fails, and no further attempt is allowed; failing: "tests"'
    )


def _rounds(loop: Loop) -> dict[str, int]:
    return loop.control.verdict.repair_rounds if loop.control.verdict is not None else {}


def test_with_an_alternative_left_a_base_case_that_cannot_be_mended_switches() -> None:
    loop = driven(atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"))
    answer = stopped(judged(loop, failing=("tests",), repair_rounds={"tests": patience(loop)}))
    assert isinstance(answer, Block)
    assert loop.or_groups["g"].selected == "A2"
    assert "g has switched: A1 has had its turn, go on with A2 (it was never tried)" in answer.reason
    assert "take_back.py A1 --reason R." in answer.reason


def test_a_base_case_that_cannot_be_mended_and_whose_other_way_was_resolved_before_is_verified_again() -> None:
    ways = atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g", status="resolved")
    loop = driven(*ways)
    answer = stopped(judged(loop, failing=("tests",), repair_rounds={"tests": patience(loop)}))
    assert isinstance(answer, Block)
    assert loop.or_groups["g"].selected == "A2"
    assert answer.reason.startswith("Verify now: nothing that is required is unresolved")


def test_an_atom_that_covers_a_failing_item_is_done_again_instead_of_a_repair() -> None:
    loop = driven(atom("A1", status="resolved", covers=("nice",)), atom("A2", status="resolved"))
    loop.objective = replace(loop.objective, base_case=an_assertion())
    answer = stopped(judged(loop, failing=("nice",)))
    assert isinstance(answer, Block)
    assert [(one.id, one.status) for one in loop.atoms] == [("A1", "pending"), ("A2", "resolved")]
    assert "items fail that these atoms cover: A1." in answer.reason
    assert "- A1: do A1 (failed once)" in answer.reason


def an_assertion(*, more: tuple[ChecklistItem, ...] = ()) -> BaseCase:
    return BaseCase(checklist=(ChecklistItem(item="nice", check=Check(type="assertion", value="it is nice")), *more))


def with_assertion(*atoms: Any) -> Loop:
    loop = driven(*atoms)
    loop.objective = replace(loop.objective, base_case=an_assertion())
    return loop


def test_what_nobody_has_judged_is_to_be_judged_first_and_then_waits_for_a_person() -> None:
    loop = judged(with_assertion(atom("A1", status="resolved")), undecided=True)
    first = stopped(loop)
    assert isinstance(first, Block)
    assert "record_judgement.py" in first.reason
    assert "nice" in first.reason
    waiting = stopped(loop)
    assert isinstance(waiting, Allow)
    assert waiting.message is not None
    assert "aot confirm" in waiting.message
    assert control_of(loop) == ("running", 1)
    # the person thinks about it, and talks with the session: nothing is counted
    assert stopped(loop, session()) == waiting
    assert control_of(loop) == ("running", 1)


def test_a_person_s_word_completes_it() -> None:
    loop = judged(with_assertion(atom("A1", status="resolved")), undecided=True)
    stopped(loop)
    assert isinstance(stopped(loop), Allow)
    judged(loop, passed=True)
    stopped(loop, session())
    assert loop.control.status == "completed"


def test_what_a_judge_decides_needs_no_person() -> None:
    loop = judged(with_assertion(atom("A1", status="resolved")), undecided=True)
    stopped(loop)
    judged(loop, failing=("nice",))
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert loop.atoms[-1].repairs == "nice"


def test_what_is_undecided_waits_until_the_atoms_are_resolved() -> None:
    loop = judged(with_assertion(atom("A1")), undecided=True)
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert "A1: do A1" in answer.reason


def test_verify_each_iteration_asks_for_a_verdict_when_one_ends_and_goes_on_without_one() -> None:
    limits = Constraints(verify_each_iteration=True, max_stall_count=99, max_total_attempts=999)
    loop = driven(atom("A1"), atom("A2"), limits=limits)
    long = lasts(loop)
    asked, iterations = [], []
    for _ in range(2 * long + 4):
        fail(loop, "A1")
        answer = stopped(loop)
        assert isinstance(answer, Block)
        asked.append("Verify now: every iteration" in answer.reason)
        iterations.append(loop.control.iteration)
        if asked[-1]:
            answer = stopped(loop)
            assert isinstance(answer, Block)
            assert "Ready" in answer.reason, "nobody verified it, and it goes on"
    assert asked == [number % long == long - 1 for number in range(2 * long + 4)]
    assert iterations == [1 + number // long for number in range(2 * long + 4)]


# --- why it cannot go on -----------------------------------------------------------------------------------------


def hopeless() -> Loop:
    loop = driven(atom("A1", or_group="g", alike=24), atom("A2", or_group="g", alike=24))
    loop.trail = [replace(_failure(), reason="no such table")]
    return loop


SPENT = atom("A1", status="resolved"), atom("A2", repairs="tests", attempts=12)


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (driven(*SPENT), "exhausted: every attempt and every alternative has failed for A2"),
        (hopeless(), "blocked: A1 and A2 failed 48 times in the same way (no such table)"),
        (lasted(driven(atom("A1", failures=9), stall_count=2, fewest_unresolved=1)), "stalled: 3 generations in a row"),
        (lasted(driven(iteration=19)), "limit: 20 iterations"),
        (driven(iteration=20), "limit: 20 iterations"),
        (driven(tried=10), "limit: 10 attempts of the 10 allowed"),
        (driven(limits=Constraints(max_total_attempts=7), tried=7), "limit: 7 attempts of the 7 allowed"),
        (driven(limits=Constraints(max_cost_usd=1.0), cost_usd=2.0), "limit: it cost $2.00"),
        (driven(limits=Constraints(max_runtime="1m"), ran_seconds=61.0), "limit: its runtime of 1m is used up"),
    ],
    ids=["exhausted", "blocked", "stalled", "iterations", "no more", "attempts", "all attempts", "cost", "time"],
)
def test_what_cannot_go_on_is_verified_once_more_and_then_stops(loop: Loop, reason: str) -> None:
    last = stopped(loop)
    assert isinstance(last, Block)
    assert "Verify now" in last.reason
    assert reason in last.reason
    iterations = loop.control.iteration
    judged(loop, failing=("tests",))
    answer = stopped(loop)
    assert isinstance(answer, Allow)
    assert loop.control.stop_reason is not None
    assert loop.control.stop_reason.startswith(reason)
    assert control_of(loop) == ("stopped", iterations)  # what was told before is not counted twice


def test_the_last_verification_completes_it_if_it_passes() -> None:
    loop = lasted(driven(iteration=19))
    stopped(loop)
    stopped(judged(loop, passed=True))
    assert loop.control.status == "completed"


def test_with_a_fresh_verdict_it_stops_without_asking_for_another() -> None:
    loop = judged(lasted(driven(iteration=19)), failing=("tests",))
    assert isinstance(stopped(loop), Allow)
    assert loop.control.stop_reason == "limit: 20 iterations, as many as allowed"


def test_exhausted_comes_before_stalled_and_limits() -> None:
    loop = driven(*SPENT, stall_count=5, iteration=30, tried=99)
    judged(loop, failing=("tests",))
    stopped(loop)
    assert loop.control.stop_reason is not None
    assert loop.control.stop_reason.startswith("exhausted:")


def test_an_atom_left_in_progress_is_not_exhausted() -> None:
    loop = driven(atom("A1", status="in_progress"))
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert "Left in progress: A1" in answer.reason
    assert "integrate.py" in answer.reason


def test_a_parent_that_only_waits_for_its_check_is_not_exhausted() -> None:
    check = AtomCheck(type="command", value="true")
    loop = driven(atom("A1", check=check), atom("A2", status="resolved"))
    loop.decompositions = [Decomposition(parent="A1", children=("A2",), reason="big")]
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert "All parts of A1 are resolved" in answer.reason


def test_a_parent_that_is_spent_and_required_again_gives_way_to_another() -> None:
    check = AtomCheck(type="command", value="true")
    way = atom("A1", or_group="g", attempts=12, check=check)
    loop = driven(way, atom("A2", or_group="g"), atom("A3", status="resolved"))
    loop.decompositions = [Decomposition(parent="A1", children=("A3",), reason="big")]
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert loop.or_groups["g"].selected == "A2"
    assert "go on with A2" in answer.reason


def test_failures_alone_never_end_a_loop() -> None:
    """Atoms are tried as long as attempts are left; how they fail differs each time."""
    limits = Constraints(max_stall_count=99, max_iterations=99)
    loop = driven(atom("A1"), atom("A2"), limits=limits)
    for number in range(19):
        fail(loop, "A1", f"the {number}th reason")
        assert isinstance(stopped(loop), Block)
    fail(loop, "A1", "the last")
    last = stopped(loop)
    assert isinstance(last, Block)
    assert "Verify now: this is the last time (limit: 20 attempts of the 20 allowed)" in last.reason
    stopped(loop)
    assert loop.control.stop_reason == "limit: 20 attempts of the 20 allowed"


@pytest.mark.parametrize("attempts", [40, 999])
def test_what_fails_in_the_same_way_again_and_again_is_for_a_person(attempts: int) -> None:
    """More often than bad luck explains; with few attempts, when it has had most of them."""
    loop = driven(limits=Constraints(max_stall_count=99, max_iterations=99, max_total_attempts=attempts))
    often = min(ceil(turns.MOST * attempts_allowed(loop)), ceil(turns.HOPELESS * bad_luck(loop)))
    for _ in range(often - 1):
        fail(loop, "A1", "no such table")
        assert "Ready" in reason_of(stopped(loop))
    fail(loop, "A1", "no such table")
    assert f"(blocked: A1 failed {often} times in the same way (no such table)" in reason_of(stopped(loop))
    stopped(loop)
    assert (loop.control.stop_reason or "").endswith("aot redirect --retry A1")


# --- commands ----------------------------------------------------------------------------------------------------


def command_failed(loop: Loop, one: str) -> None:
    advance(loop, events.AtomStarted(atom=one))
    advance(loop, events.AtomFailed(atom=one, reason="exit 1", at=AT, final=True))


def test_a_command_that_failed_and_for_which_nothing_changed_is_exhausted_when_nobody_runs_it_again() -> None:
    loop = driven(atom("A1", run="make"))
    command_failed(loop, "A1")
    assert "run it again only if something it needs has changed" in reason_of(stopped(loop))
    assert "exhausted: nothing can start; not resolved: A1" in reason_of(stopped(loop))
    stopped(loop)
    assert loop.control.stop_reason == "exhausted: nothing can start; not resolved: A1"


def test_a_command_that_failed_waits_while_something_else_can_be_done() -> None:
    loop = driven(atom("A1", run="make"), atom("A2"))
    command_failed(loop, "A1")
    for _ in range(3):
        assert "Ready" in reason_of(stopped(loop))
    assert loop.control.status == "running"


def test_what_a_failed_command_rests_on_is_left_when_nobody_runs_it_again() -> None:
    ways = atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g")
    loop = driven(*ways, atom("A3", "A1", run="make"))
    command_failed(loop, "A3")
    stopped(loop)
    assert "g has switched: A1 has had its turn, go on with A2" in reason_of(stopped(loop))
    assert loop.or_groups["g"].selected == "A2"


# --- going on ----------------------------------------------------------------------------------------------------


def test_progress_is_told_with_what_is_ready_and_what_failed_last() -> None:
    loop = driven(*[atom(f"A{number}") for number in range(1, 6)], prev_pending_count=5)
    resolve(loop, "A1", "A2")
    fail(loop, "A3", "the parser has no such option")
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert "reduced from 5 to 3 unresolved atoms. At most 47 more attempts." in answer.reason
    assert "A4: do A4" in answer.reason
    assert "A3, attempt 1: the parser has no such option" in answer.reason
    assert answer.message == "Continue with what is unresolved: A3, A4, A5."
    assert loop.control.stall_count == 0


def test_an_iteration_lasts_until_bad_luck_does_not_explain_a_lack_of_progress() -> None:
    """Three times what an atom needs at worst, and not fewer than there are atoms."""
    loop = driven(atom("A1"), limits=Constraints(max_total_attempts=40))
    long = lasts(loop)
    assert patience(loop) < long
    seen = []
    for number in range(2 * long + 1):
        fail(loop, "A1", f"the {number}th reason")
        assert isinstance(stopped(loop), Block)
        seen.append((loop.control.iteration, loop.control.stall_count))
    assert seen == [*[(1, 0)] * (long - 1), (1, 1), *[(2, 1)] * (long - 1), (2, 2), (3, 2)]


def test_no_stall_is_counted_while_bad_luck_explains_the_failures() -> None:
    loop = driven(atom("A1"), limits=Constraints(max_total_attempts=999), fewest_unresolved=1)
    long = lasts(loop)
    assert long < patience(loop) - 1
    stalls = []
    for number in range(long * ceil(patience(loop) / long)):
        fail(loop, "A1", f"the {number}th reason")
        assert isinstance(stopped(loop), Block)
        stalls.append(loop.control.stall_count)
    assert loop.control.iteration == len(stalls) // long > 1
    assert stalls == [0] * (len(stalls) - 1) + [1]


def test_a_generation_goes_on_under_its_number_after_the_loop_was_stopped() -> None:
    loop = driven(atom("A1"))
    fail(loop, "A1")
    stopped(loop)
    advance(loop, events.LoopStopped(reason="user: lunch"))
    advance(loop, events.LoopStarted())
    fail(loop, "A1")
    stopped(loop)
    assert (loop.control.iteration, loop.control.generation.outcomes) == (1, 2)


def test_no_stall_is_counted_while_a_ready_atom_was_never_tried() -> None:
    loop = lasted(driven(atom("A1"), atom("A2"), fewest_unresolved=2))
    fail(loop, "A1")
    assert isinstance(stopped(loop), Block)
    assert (loop.control.stall_count, loop.control.generation.outcomes) == (0, 0)


def test_a_stall_names_the_atom_and_what_can_be_done_about_it() -> None:
    loop = worn(driven(atom("A1"), atom("A2"), fewest_unresolved=2), "A1", "A2")
    fail(lasted(loop), "A2")
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert answer.message.startswith("Stalled: switch strategy for atom A2: decompose it (decompose_atom.py), or try")
    assert loop.control.stall_count == 1


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({}, ["decompose"]),
        ({"whole": True}, []),
        ({"run": "make"}, []),
        ({"partial": True}, ["the work that holds", "decompose"]),
    ],
)
def test_only_ways_that_are_open_are_advised(more: dict[str, Any], named: list[str]) -> None:
    loop = lasted(worn(driven(atom("A1", **more), fewest_unresolved=1), "A1"))
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert loop.control.stall_count == 1
    words = ("the work that holds", "decompose", "--because-of", "probe")
    assert [word for word in words if word in answer.message] == named


def test_who_rests_on_a_choice_is_told_how_to_say_that_it_is_in_the_way() -> None:
    ways = atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g")
    loop = lasted(worn(driven(*ways, atom("A3", "A1"), fewest_unresolved=1), "A3"))
    assert "name it (fail_atom.py --because-of)" in reason_of(stopped(loop))


def test_a_stall_switches_nothing() -> None:
    """How long a choice has its turn is decided by its failures alone."""
    loop = driven(atom("A1", or_group="g"), atom("A2", or_group="g"), stall_count=1, fewest_unresolved=1)
    reason = reason_of(stopped(lasted(worn(loop, "A1", "A2"))))
    assert loop.control.stall_count == 2
    assert loop.or_groups["g"].selected == "A1"
    assert "has switched" not in reason


@pytest.mark.parametrize("asked", ["", "verify"])
def test_a_stall_takes_nothing_back_that_is_resolved_and_what_fails_is_mended(asked: Any) -> None:
    loop = driven(atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g"), stall_count=1)
    loop.control = replace(loop.control, fewest_unresolved=0, steering=Steering(asked=asked))
    reason_of(stopped(judged(lasted(loop), failing=("tests",))))
    assert loop.or_groups["g"].selected == "A1"
    assert [one.repairs for one in loop.atoms] == [None, None, "tests"]


# --- turns -------------------------------------------------------------------------------------------------------


def test_whose_turn_it_is_next_is_told_for_what_failed() -> None:
    loop = driven(atom("A1", or_group="g"), atom("A2", or_group="g"), atom("A3"))
    fail(loop, "A1")
    fail(loop, "A3")
    reason = reason_of(stopped(loop))
    assert "- A1: do A1 (failed once; after 1 more failure it is the turn of A2)" in reason
    assert "- A3: do A3 (failed once)" in reason


def test_the_choice_that_comes_back_is_told_with_its_failures() -> None:
    loop = driven(atom("A1", or_group="g"), atom("A2", or_group="g"))
    for one in ("A1", "A1", "A2", "A2"):
        fail(loop, one)
    assert loop.or_groups["g"].selected == "A1"
    reason = reason_of(stopped(loop))
    assert "- A1: do A1 (failed 2 times; after 2 more failures it is the turn of A2)" in reason


def test_work_that_holds_and_probes_that_are_asked_for_are_told() -> None:
    loop = driven(atom("A1"), atom("A2", probe=True))
    advance(loop, events.AtomStarted(atom="A1"))
    advance(loop, events.AtomFailed(atom="A1", reason="half of it", at=AT, progress=True, wants_probe=True))
    reason = reason_of(stopped(loop))
    assert "- A1: do A1 (a probe first; failed once; part of its work holds: go on from there)" in reason
    assert "- A2: do A2 (a probe first)" in reason


def test_what_was_said_once_to_be_in_the_way_is_told() -> None:
    ways = atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g")
    loop = driven(*ways, atom("A3", "A1"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], blames={"A2": 1})  # else the first time is enough
    advance(loop, events.AtomStarted(atom="A3"))
    advance(loop, events.AtomFailed(atom="A3", reason="its table has no key", at=AT, because_of=("A1",)))
    assert "A3 said that A1 is in the way; said again, g leaves it." in reason_of(stopped(loop))
    advance(loop, events.AtomStarted(atom="A3"))
    advance(loop, events.AtomFailed(atom="A3", reason="its table has no key", at=AT, because_of=("A1",)))
    assert loop.or_groups["g"].selected == "A2"
    assert "is in the way" not in reason_of(stopped(loop))


def test_a_decomposition_that_led_nowhere_is_told() -> None:
    loop = driven(atom("A1"), prev_pending_count=1)
    for parent in ("A1", "A2"):
        children = (events.Child(description="a"), events.Child(description="b"))
        advance(loop, events.AtomDecomposed(parent=parent, children=children, reason="big"))
        assert "led nowhere" not in reason_of(stopped(loop)), "it is judged when the iteration ends"
        answer = stopped(lasted(loop))
    assert isinstance(answer, Block)
    assert "Decomposing A1 led nowhere: do it whole" in answer.reason


def test_only_the_session_is_told_to_start_a_coordinator() -> None:
    answers = [stopped(driven(), payload) for payload in (session(), coordinator())]
    assert ["Start aot-loop:coordinator" in one.reason for one in answers if isinstance(one, Block)] == [True, False]


def test_what_is_told_is_bounded_however_large_the_loop_is() -> None:
    loop = driven(*[atom(f"A{number}", description="long " * 5_000) for number in range(1_000)])
    for _ in range(50):
        loop.trail += [replace(_failure(), reason="x" * 100_000)]
    answer = stopped(loop)
    assert isinstance(answer, Block)
    assert len(answer.reason) < 4_000
    assert len(answer.message) < 400


# --- never for ever ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3, MOST_IN_VAIN])
def test_who_is_sent_back_in_vain_is_let_go_before_the_client_does_it(most: int) -> None:
    loop = driven(limits=Constraints(max_stall_count=1_000, max_iterations=1_000))
    now = Circumstances(at=AT, commit=COMMIT, most_in_vain=most)
    answers = [stopped(loop, now=now) for _ in range(most + 1)]
    assert [isinstance(one, Block) for one in answers] == [True] * most + [False]
    reason = f"stalled: it was sent back {most} times in a row, and no attempt ended"
    assert (loop.control.status, loop.control.stop_reason) == ("stopped", reason)


def test_an_attempt_that_ends_begins_the_count_anew() -> None:
    loop = driven(atom("A1"), atom("A2"), limits=Constraints(max_stall_count=1_000, max_iterations=1_000))
    for _ in range(MOST_IN_VAIN):
        stopped(loop)
    fail(loop, "A1")
    assert isinstance(stopped(loop), Block)
    assert loop.control.steering.sent_back == 1


def test_to_begin_and_give_up_for_ever_is_in_vain() -> None:
    loop = driven(atom("A1"))
    for _ in range(MOST_IN_VAIN):
        advance(loop, events.AtomStarted(atom="A1"))
        advance(loop, events.AtomAbandoned(atom="A1"))
        assert isinstance(stopped(loop), Block)
    stopped(loop)
    assert (loop.control.stop_reason or "").startswith("stalled: it was sent back")


def test_to_start_the_loop_again_begins_everything_anew() -> None:
    loop = driven(limits=Constraints(max_stall_count=1_000, max_iterations=1_000))
    while isinstance(stopped(loop), Block):
        pass
    advance(loop, events.LoopStarted())
    assert isinstance(stopped(loop), Block)


def test_the_mark_knows_attempts_and_corrections_from_all_else() -> None:
    loop = driven(atom("A1"))
    mark = mark_of(loop)
    loop.control = replace(loop.control, iteration=7, stall_count=2)
    advance(loop, events.AtomStarted(atom="A1"))
    assert mark_of(loop) == mark
    advance(loop, events.AtomFailed(atom="A1", reason="no", at=AT))
    failed = mark_of(loop)
    advance(loop, events.RetryGranted(atom="A1", description="again", at=AT))
    assert len({mark, failed, mark_of(loop)}) == 3


moves = st.lists(
    st.sampled_from(["resolve", "start", "fail", "fail", "abandon", "switch", "pass", "verify", "judge", "nothing"]),
    max_size=60,
)


@given(moves=moves, each=st.booleans())
@settings(max_examples=3 * settings().max_examples)
def test_whatever_a_coordinator_does_it_ends_within_its_attempts_or_waits_for_a_person(
    moves: list[str], each: bool
) -> None:
    limits = Constraints(max_iterations=3, max_total_attempts=12, verify_each_iteration=each)
    loop = driven(atom("A1"), atom("A2", "A1"), atom("A3", or_group="g"), atom("A4", or_group="g"), limits=limits)
    blocks, answer = 0, Answer()
    for move in (*moves, *["nothing"] * 40):
        _act(loop, move)
        before = loop.control.iteration
        answer = stopped(loop, session())
        assert loop.control.iteration - before in (0, 1)
        blocks += isinstance(answer, Block)
        if loop.control.status != "running":
            break
    assert isinstance(answer, Allow)
    assert loop.control.iteration <= 3
    assert blocks <= (loop.control.tried + 1) * MOST_IN_VAIN
    assert loop.control.status in ("stopped", "completed") or (answer.message or "").startswith(
        "All atoms are resolved"
    )


def _act(loop: Loop, move: str) -> None:
    ready = Graph(loop).ready()
    running = [one.id for one in loop.atoms if one.status == "in_progress"]
    if move == "start" and ready:
        advance(loop, events.AtomStarted(atom=ready[0]))
    elif move == "resolve" and (running or ready):
        (advance(loop, events.AtomResolved(atom=running[0], at=AT)) if running else resolve(loop, ready[0]))
    elif move == "fail" and ready:
        fail(loop, ready[0])
    elif move == "abandon" and running:
        advance(loop, events.AtomAbandoned(atom=running[0]))
    elif move == "switch":
        other = "A4" if loop.or_groups["g"].selected == "A3" else "A3"
        advance(loop, events.BranchSwitched(or_group="g", choice=other, reason="the other", at=AT))
    elif move in ("pass", "verify", "judge"):
        rounds = _rounds(loop)
        judged(loop, passed=move == "pass", failing=("tests",) if move == "verify" else (), repair_rounds=rounds)
