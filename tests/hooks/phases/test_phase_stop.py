"""The end of a turn in a session that ships a feature: it may end, or is told what its phase owes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.phases.events import LoopStopped
from aotloop.core.phases.model import PHASES, AcceptanceVerdict, Checkpoint, ErrorRecord, PhaseLoop, Receipt
from aotloop.errors import AotError
from aotloop.hooks.answers import Allow, Answer, Block, Context, Plain
from aotloop.hooks.payload import Payload
from aotloop.hooks.phases.phase_entry import end_turn
from aotloop.hooks.phases.phase_stop import (
    LONGEST,
    Circumstances,
    Evidence,
    at_start,
    before_compaction,
    decide,
    is_in_vain,
)
from aotloop.phases.project import Project
from aotloop.phases.receipts import facts_as_tested_before, tell
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.trust.verdicts import keep_tested
from tests.hooks.features import LONG_AGO, a_feature, committed, shipping, with_tests
from tests.hooks.situations import session

NOW = Circumstances(at="2026-03-01T00:00:00Z", most_in_vain=6)


def ended(store: PhaseStore, payload: Payload | None = None, now: Circumstances = NOW) -> Answer:
    return end_turn(payload or session(), store, now)


# --- whose loop it is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payload",
    [
        session(session_id="another"),
        session(session_id=""),
        session(agent_type="aot-loop:coordinator", agent_id="a"),
        session(agent_type=""),
    ],
)
def test_other_sessions_and_all_agents_are_left_alone(project: Path, payload: Payload) -> None:
    store = shipping(project)
    before = store.load()
    assert ended(store, payload) == Answer()
    assert store.load() == before


def test_a_loop_of_no_session_holds_nobody(project: Path) -> None:
    assert ended(shipping(project, session_id=None)) == Answer()


@pytest.mark.parametrize("status", ["stopped", "completed", "cancelled"])
def test_what_is_over_or_stopped_begins_nothing_again(project: Path, status: str) -> None:
    store = shipping(project, status=status)
    before = store.load()
    assert ended(store, session(last_assistant_message="<promise>SHIPPED</promise>")) == Allow()
    assert store.load() == before


def test_while_agents_work_in_the_background_nothing_is_counted(project: Path) -> None:
    store = shipping(project)
    tasks = [{"id": "a", "type": "subagent", "status": "running"}]
    assert ended(store, session(background_tasks=tasks)) == Allow()
    assert store.load().global_iteration == 0


@pytest.mark.parametrize(("turn", "typed"), [(None, "/aot-loop:ship"), ("t1", "$aot-loop:source-command-ship")])
def test_while_a_person_is_waited_for_it_says_how_and_counts_nothing(
    project: Path, turn: str | None, typed: str
) -> None:
    store = shipping(project, phase="spec_test", status="waiting")
    answer = ended(store, session(turn_id=turn))
    assert isinstance(answer, Allow)
    assert f"`{typed} approve`" in str(answer.message)
    assert store.load().global_iteration == 0


# --- going on ----------------------------------------------------------------------------------------------------


def test_a_turn_is_counted_once_and_the_phase_goes_on(project: Path) -> None:
    store = shipping(project)
    answer = ended(store, now=Circumstances(at="2026-03-01T00:00:00Z", most_in_vain=6, script="python3 /p/ship.py"))
    assert isinstance(answer, Block)
    assert "Write a plan" in answer.reason
    assert "`python3 /p/ship.py receipt --artifact" in answer.reason
    assert answer.message == "Shipping Greet people: plan (2 of 11), turn 2 of 10."
    loop = store.load()
    assert (loop.phase_iteration, loop.global_iteration) == (1, 1)


@pytest.mark.parametrize(("no_graph", "is_told"), [(False, True), (True, False)])
def test_whoever_works_is_told_to_make_a_loop_of_it(project: Path, no_graph: bool, is_told: bool) -> None:
    answer = ended(shipping(project, phase="work", no_graph=no_graph))
    assert isinstance(answer, Block)
    assert ("`ship.py work`" in answer.reason) is is_told


def test_at_its_limit_a_phase_is_left_by_force_and_the_next_is_told(project: Path) -> None:
    store = shipping(project, phase_iteration=9, errors=(tried("plan"),))
    answer = ended(store)
    assert isinstance(answer, Block)
    assert "left by force" in answer.reason
    assert store.load().phase == "spec_test"


@pytest.mark.parametrize(
    "more",
    [
        {"phase": "spec_test", "phase_iteration": 9},
        {"phase": "test", "phase_iteration": 9},
        {"phase": "work", "global_iteration": 49},
    ],
)
def test_where_nothing_may_be_forced_the_loop_stops_and_the_session_is_free(
    project: Path, more: dict[str, Any]
) -> None:
    store = shipping(project, errors=(tried(more["phase"]),), **more)
    answer = ended(store)
    assert isinstance(answer, Allow)
    assert "stopped. limit:" in str(answer.message)
    assert store.load().status == "stopped"


def test_what_a_terminal_would_obey_is_not_shown(project: Path) -> None:
    store = shipping(project, feature="Greet\x1b]0;owned\x07 people")
    answer = ended(store)
    assert isinstance(answer, Block)
    assert answer.message.startswith("Shipping Greet people:")


def test_however_long_the_texts_of_a_loop_are_the_instruction_is_short(project: Path) -> None:
    store = shipping(project, feature="x" * 50_000, errors=(tried("plan", "y" * 50_000),))
    answer = ended(store)
    assert isinstance(answer, Block)
    assert len(answer.reason) < LONGEST + 1000
    assert len(answer.message) < 400


# --- nothing is done ---------------------------------------------------------------------------------------------


def tried(phase: str, message: str = "no") -> ErrorRecord:
    return ErrorRecord(phase=phase, message=message, iteration=0, timestamp="2026-02-01T00:00:00Z", refused=True)  # type: ignore[arg-type]


IDLE = Circumstances(at="2026-03-01T00:00:00Z", most_in_vain=6, last_commit_at="2025-12-31T00:00:00Z")


def test_a_session_that_does_nothing_is_let_go_before_the_client_does_it(project: Path) -> None:
    store = shipping(project)
    answers = [ended(store, now=IDLE) for _ in range(7)]
    assert [type(one) for one in answers] == [Block] * 6 + [Allow]
    assert (store.load().stop_reason or "").startswith("stalled: 7 turns in plan")
    assert ended(store, now=IDLE) == Allow()


def test_the_client_s_cap_is_heard(project: Path) -> None:
    now = replace(IDLE, most_in_vain=1)
    store = shipping(project)
    assert [type(ended(store, now=now)) for _ in range(2)] == [Block, Allow]


@pytest.mark.parametrize(
    ("more", "last_commit_at", "expected"),
    [
        ({}, "2025-12-31T00:00:00Z", True),
        ({}, "2026-02-01T00:00:00Z", False),
        ({}, None, False),
        ({"errors": (tried("plan"),)}, "2025-12-31T00:00:00Z", False),
        ({"errors": (tried("brainstorm"),)}, "2025-12-31T00:00:00Z", True),
        (
            {"checkpoints": (Checkpoint(phase="plan", summary="s", timestamp="2026-02-01T00:00:00Z"),)},
            "2025-12-31T00:00:00Z",
            False,
        ),
    ],
)
def test_a_commit_a_try_or_a_note_since_the_phase_began_is_a_sign_of_work(
    more: dict[str, Any], last_commit_at: str | None, expected: bool
) -> None:
    assert is_in_vain(a_feature(**more), last_commit_at) is expected


# --- the promise -------------------------------------------------------------------------------------------------


def test_a_promise_in_another_phase_changes_nothing_and_is_answered(project: Path) -> None:
    store = shipping(project)
    answer = ended(store, session(last_assistant_message="<promise>SHIPPED</promise>"))
    assert isinstance(answer, Block)
    assert "the promise counts only in ship" in answer.reason
    assert (store.load().phase, store.load().global_iteration) == ("plan", 1)


def shipped(project: Path, *, is_at_head: bool = True, is_ours: bool = True, **more: Any) -> PhaseStore:
    """All phases are proven, and the tests passed at HEAD, or at the commit before it; or only the file says so."""
    shipping(project)
    tests = with_tests(project)
    (project / "hello.txt").write_text("hello\n")
    head = committed(project, "work")
    receipts = tuple(
        Receipt(phase=phase, artifact="hello.txt", git_sha=head, timestamp=LONG_AGO)
        for phase in PHASES
        if phase != "spec_test"
    )
    verdict = AcceptanceVerdict(passed=True, commit=head, timestamp=LONG_AGO)
    if not is_at_head:
        committed(project, "more")
    loop = a_feature(
        phase="ship",
        phases_completed=PHASES[:-1],
        receipts=(*receipts, *tests["receipts"]),
        artifacts=replace(tests["artifacts"], branch="main"),
        tests_verdict=verdict,
        **more,
    )
    store = PhaseStore(str(project / ".claude" / "autonomous-loop.json"))
    store.create(loop, overwrite=True)
    if is_ours:
        keep_tested(store.path, head, LONG_AGO)
    return store


def test_a_promise_with_everything_proven_completes_the_loop(project: Path) -> None:
    store = shipped(project)
    answer = ended(store, session(last_assistant_message="All done.\n<promise>SHIPPED</promise>"))
    assert isinstance(answer, Allow)
    assert "Shipped: Greet people" in str(answer.message)
    assert store.load().status == "completed"


@pytest.mark.parametrize("known", [{"is_at_head": False}, {"is_ours": False}])
def test_tests_that_did_not_run_at_this_commit_prove_nothing_and_the_hook_runs_none(
    project: Path, known: dict[str, Any]
) -> None:
    store = shipped(project, **known)
    answer = ended(store, session(last_assistant_message="<promise>SHIPPED</promise>"))
    assert isinstance(answer, Block)
    assert "acceptance tests do not pass: they were not run" in answer.reason
    assert "file that again first" in answer.reason
    assert store.load().status == "running"


def test_whoever_has_filed_everything_is_asked_for_the_promise_alone(project: Path) -> None:
    answer = ended(shipped(project))
    assert isinstance(answer, Block)
    assert answer.reason.startswith("Everything is proven. If the feature is shipped, end with <promise>SHIPPED<")


def test_another_wording_is_no_promise(project: Path) -> None:
    store = shipped(project, completion_promise="IT IS OUT")
    answer = ended(store, session(last_assistant_message="<promise>SHIPPED</promise>"))
    assert isinstance(answer, Block)
    assert "'IT IS OUT', word for word" in answer.reason


# --- it is decided without a file --------------------------------------------------------------------------------


def test_what_is_decided_follows_from_the_loop_and_what_was_looked_into() -> None:
    loop = a_feature(phase="test", phase_iteration=9, errors=(tried("test"),))
    stopped, answer = decide(session(), loop, NOW)
    assert (stopped.status, type(answer)) == ("stopped", Allow)
    forced, answer = decide(session(), loop, NOW, Evidence(tests_pass=True))
    assert (forced.status, forced.phase, type(answer)) == ("running", "ship", Block)
    assert loop.phase_iteration == 9


def test_a_promise_without_facts_completes_nothing() -> None:
    loop = a_feature(phase="ship", phases_completed=PHASES[:-1])
    after, answer = decide(session(last_assistant_message="<promise>SHIPPED</promise>"), loop, NOW)
    assert (after.status, type(answer)) == ("running", Block)


def test_what_was_looked_into_does_not_count_for_a_loop_that_moved_on(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = shipped(project)

    def look_while_the_loop_stops(*given: Any) -> Any:
        tell(Project(store), LoopStopped(at=NOW.at, reason="user: enough"))
        return facts_as_tested_before(*given)

    monkeypatch.setattr("aotloop.phases.receipts.facts_as_tested_before", look_while_the_loop_stops)
    with pytest.raises(AotError, match="the loop moved on while this claim was checked"):
        ended(store, session(last_assistant_message="<promise>SHIPPED</promise>"))
    assert store.load().status == "stopped"


# --- a session that forgets --------------------------------------------------------------------------------------


def remembered() -> PhaseLoop:
    point = Checkpoint(phase="plan", summary="two steps", failed_approaches=("by mail",), timestamp=LONG_AGO)
    return a_feature(phase="work", checkpoints=(point,))


def test_a_session_that_lost_its_memory_is_told_where_it_is() -> None:
    answer = at_start(session(), remembered(), "ship.py")
    assert isinstance(answer, Context)
    for words in ("Feature: Greet people", "Phase: work (5 of 11)", "plan: two steps", "by mail", "`ship.py status`"):
        assert words in answer.text
    compacted = before_compaction(session(), remembered(), "ship.py")
    assert isinstance(compacted, Plain)
    assert compacted.text.startswith("Keep in the summary that this session ships a feature")


@pytest.mark.parametrize("payload", [session(session_id="another"), session(agent_type="x")])
def test_others_are_told_nothing(payload: Payload) -> None:
    assert at_start(payload, remembered(), "s") == before_compaction(payload, remembered(), "s") == Answer()


@pytest.mark.parametrize("status", ["stopped", "completed", "cancelled"])
def test_of_a_loop_that_does_not_run_nothing_is_told(status: Any) -> None:
    assert at_start(session(), replace(remembered(), status=status), "s") == Answer()
