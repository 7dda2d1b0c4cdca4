"""Every kind of news has words: one line, of which nothing can steer a terminal, however it is filled."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from aotloop.app.history.event_words import LONGEST, words
from aotloop.cli.live.event_lines import is_about
from aotloop.core.model import Used
from aotloop.execution import run_events, ship_events
from aotloop.execution.journals.event_file import AnyEvent
from aotloop.execution.run_events import RunEvent
from tests.cli.live.running import AT

EVIL = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\nrm -rf\x00"

FIELDS: dict[str, Any] = {
    "checked_on": "",
    "at": AT,
    "run_id": "r1",
    "pid": 7,
    "goal": "It works",
    "isolation": "worktree",
    "branch": "main",
    "slots": 3,
    "attempts_at_most": 40,
    "max_cost_usd": 20.0,
    "overriding": {"max_iterations": 9},
    "text": "something to know",
    "atom": "A1",
    "attempt": 4,
    "name": "A1#2",
    "checks": (),
    "running": ("A1#1", "A2#1"),
    "are_ended": False,
    "role": "worker",
    "agent": "claude",
    "backend": "claude",
    "program": "/bin/claude",
    "version": "2.1.0",
    "description": "do A1",
    "folder": ".aot/attempts/A1-4",
    "outcome": "done",
    "summary": "did A1",
    "seconds": 75.0,
    "cost_usd": 1.5,
    "commit": "0123456789abcdef",
    "why": "conflict",
    "reason": "both changed a.py",
    "atoms": ("A2", "A3"),
    "problem": None,
    "attempts": 1,
    "allowed": 2,
    "more": 20,
    "failures": 5,
    "others": 1,
    "is_command": False,
    "or_group": "way",
    "left": "A1",
    "selected": "A2",
    "again": ("A5",),
    "choices": ("A2", "A3"),
    "parents": ("A1",),
    "iteration": 3,
    "stall_count": 0,
    "passed": False,
    "undecided": False,
    "failing": {"tests pass": "exit 1", "it is fast": "too slow"},
    "holding": {"it builds": "exit 0"},
    "waiting": {"it is good": "a person decides"},
    "status": "stopped",
    "worked": True,
    "used": Used(),
    "feature": "a login",
    "phase": "plan",
    "forced_phases": (),
    "skipped": (),
    "forced": "not completed in 10 iterations",
    "artifact": "docs/plans/login.md",
    "accepted": False,
    "reasons": ("it is empty", "it is old"),
    "tests": "exit 1 after 0.2 s",
    "turn": 2,
    "most": 10,
}
KINDS: tuple[type[RunEvent], ...] = get_args(AnyEvent)


def an_example(kind: type[RunEvent], **other: Any) -> RunEvent:
    return kind(**{name: {**FIELDS, **other}[name] for name in kind.__struct_fields__})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_of_news_is_one_line_of_words(kind: type[RunEvent]) -> None:
    told = words(an_example(kind))
    assert told
    assert told.isprintable()
    assert len(told) <= LONGEST


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whatever_stands_in_news_they_cannot_steer_a_terminal(kind: type[RunEvent]) -> None:
    strange: dict[str, Any] = {
        name: value + EVIL for name, value in FIELDS.items() if isinstance(value, str) and name not in fixed(kind)
    }
    strange |= {name: (EVIL, *[f"A{one}" for one in range(5000)]) for name in ("atoms", "parents", "choices", "again")}
    strange |= {name: {EVIL: "x" * 100_000} for name in ("failing", "holding", "waiting")}
    strange |= {"problem": EVIL * 1000}
    told = words(an_example(kind, **strange))
    assert told is not None
    assert [one for one in told if not one.isprintable()] == []
    assert len(told) <= LONGEST


def fixed(kind: type[RunEvent]) -> set[str]:
    """Fields with a few values to choose from."""
    return {"isolation", "role", "status", "why"} & set(kind.__struct_fields__)


def test_news_that_nobody_foresaw_have_no_words_and_no_error() -> None:
    class Surprising(RunEvent, frozen=True, kw_only=True, tag="surprising"):
        pass

    assert words(Surprising(at=AT)) is None


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (an_example(run_events.RunBegan), "the run began on main, up to 3 at once: It works"),
        (
            an_example(run_events.RunBegan, isolation="none", slots=1),
            "the run began on main, in place, one at a time: It works",
        ),
        (
            an_example(run_events.RunBegan, isolation="none", slots=3),
            "the run began on main, in place, up to 3 at once if they are commands that may: It works",
        ),
        (an_example(run_events.AgentFound), "the agent is claude 2.1.0, /bin/claude"),
        (an_example(ship_events.ShipBegan), "in plan on main: a login"),
        (an_example(ship_events.PhaseEntered, forced=None), "plan: begins"),
        (
            an_example(ship_events.PhaseEntered),
            "plan: begins; the phase before was left by force: not completed in 10 iterations",
        ),
        (an_example(ship_events.ReceiptJudged), "plan: the receipt does not count: it is empty; it is old"),
        (
            an_example(ship_events.ReceiptJudged, accepted=True),
            "plan: the receipt counts, docs/plans/login.md at 0123456789",
        ),
        (an_example(ship_events.TurnEnded), "plan: turn 2 of 10 ended, without a receipt that counts"),
        (an_example(ship_events.ShipEnded), "plan: stopped after 1m 15s, $1.50: both changed a.py"),
        (an_example(ship_events.ShipEnded, status="waiting"), "plan: waits for a person after 1m 15s, $1.50"),
        (
            an_example(ship_events.ShipEnded, status="completed", forced_phases=("fix",)),
            "shipped after 1m 15s, $1.50: every other receipt holds, and the acceptance tests pass; left by force: fix",
        ),
        (
            an_example(ship_events.ShipEnded, status="completed"),
            "shipped after 1m 15s, $1.50: every receipt holds, and the acceptance tests pass",
        ),
        (
            an_example(run_events.AgentFound, agent="mine", version=None, problem="claude did not answer"),
            "the agent is mine (claude), /bin/claude: claude did not answer",
        ),
        (
            an_example(
                run_events.AttemptEnded,
                outcome="unavailable",
                summary="No space left on device\nMake room on the disk.",
                seconds=0.0,
                cost_usd=None,
            ),
            "A1#2 could not be started: No space left on device. Make room on the disk.",
        ),
        (
            an_example(run_events.EndAnnounced, reason="limit: it cost $2.00 of the $1.00 allowed"),
            "limit reached, waiting for 2 attempts (A1#1, A2#1): it cost $2.00 of the $1.00 allowed",
        ),
        (
            an_example(run_events.EndAnnounced, reason="limit: its runtime of 3s is used up", are_ended=True),
            "limit reached, ending 2 attempts (A1#1, A2#1): its runtime of 3s is used up",
        ),
        (
            an_example(run_events.EndAnnounced, reason="stalled: 3 generations"),
            "the run ends, waiting for 2 attempts (A1#1, A2#1): stalled: 3 generations",
        ),
        (an_example(run_events.RunEnded), "the run stopped after 1m 15s, $1.50: both changed a.py"),
        (
            an_example(run_events.RunEnded, status="completed", reason=None),
            "the base case holds; the run is complete after 1m 15s, $1.50",
        ),
        (
            an_example(run_events.RunEnded, status="completed", reason=None, worked=False),
            "the base case already holds; no work was needed",
        ),
        (an_example(run_events.AttemptBegan), "A1#2 began, by claude: do A1"),
        (an_example(run_events.AttemptBegan, role="probe"), "A1#2 began, by claude, as a probe: do A1"),
        (an_example(run_events.Warned), "A1: warning: something to know"),
        (an_example(run_events.Warned, atom=None), "warning: something to know"),
        (an_example(run_events.AttemptEnded), "A1#2 finished after 1m 15s, $1.50: did A1"),
        (an_example(run_events.AttemptEnded, outcome="new"), "A1#2 ended (new) after 1m 15s, $1.50: did A1"),
        (
            an_example(run_events.AttemptEnded, outcome="cancelled", summary="", seconds=0.2),
            "A1#2 was cancelled, $1.50",
        ),
        (an_example(run_events.Merged), "A1#2: merged as 0123456789"),
        (an_example(run_events.Merged, checked_on="other"), "A1#2: merged as 0123456789, checked on other"),
        (an_example(run_events.Merged, commit=None), "A1#2: accepted; there was nothing to merge"),
        (an_example(run_events.NotMerged, why="blocked"), "A1#2: waits to be merged: both changed a.py"),
        (an_example(run_events.AtomFailed), "A1: failed 1 of 2 times in this turn (5 in all), and will be tried again"),
        (
            an_example(run_events.AtomFailed, failures=1),
            "A1: failed 1 of 2 times in this turn, and will be tried again",
        ),
        (an_example(run_events.AtomFailed, others=0), "A1: failed 5 times, and will be tried again"),
        (an_example(run_events.AtomFailed, others=0, failures=1), "A1: failed once, and will be tried again"),
        (an_example(run_events.AtomFailed, attempts=2, failures=0), "A1: failed 2 times, and will be tried again"),
        (
            an_example(run_events.AtomFailed, others=0, failures=1, is_command=True),
            "A1: failed once, and runs again when something was merged",
        ),
        (an_example(run_events.NothingLeft, atom=None), "base case: nothing more can be tried"),
        (an_example(run_events.SwitchedTo), "way: A2 instead of A1; A5 will be done again: both changed a.py"),
        (
            an_example(run_events.HalfSpent, attempts=12),
            (
                "half is spent: no progress for 12 attempts and $1.50, at most 20 more (most failures: A2, A3):"
                " stop it (aot stop), change its direction (aot redirect), or let it continue"
            ),
        ),
        (an_example(run_events.GenerationEnded), "iteration 3 ended"),
        (an_example(run_events.GenerationEnded, stall_count=2), "iteration 3 ended, 2 in a row without progress"),
        (an_example(run_events.Verifying, atom=None), "base case: being checked"),
        (an_example(run_events.Verified, atom=None, passed=True), "base case: it holds"),
        (
            an_example(run_events.Verified, atom=None),
            "base case: it does not hold yet: tests pass (and 1 more): exit 1",
        ),
        (an_example(run_events.Verified, undecided=True, failing={}), "A1: a person has to judge"),
        (an_example(run_events.TakenBack), "A2, A3: reverted on the branch"),
        (
            an_example(run_events.TakenBack, problem="it conflicts"),
            "A2, A3: could not be reverted on the branch: it conflicts",
        ),
    ],
)
def test_the_words_are_these(one: RunEvent, told: str) -> None:
    assert words(one) == told


def test_of_many_names_the_first_are_told() -> None:
    assert words(run_events.AtomsAdded(at=AT, atoms=tuple("abcdefgh"))) == "new: a, b, c, d, e, f and 2 more"


def test_news_are_about_every_atom_they_name() -> None:
    switched = an_example(run_events.SwitchedTo)
    assert [is_about(switched, one) for one in ("A1", "A2", "A5", "A9", "way")] == [True, True, True, False, False]
    assert is_about(an_example(run_events.PartsWithdrawn), "A3")
    assert is_about(an_example(run_events.Merged), "A1")
    assert not is_about(an_example(run_events.RunBegan), "A1")
    assert not is_about(an_example(run_events.AtomsAdded), "A")


def test_of_a_failure_its_first_line_is_told_and_not_that_output_follows() -> None:
    switched = an_example(run_events.SwitchedTo, again=(), reason="exit 127 after 0.0 s; its last output:\nnot found")
    assert words(switched) == "way: A2 instead of A1: exit 127 after 0.0 s"
