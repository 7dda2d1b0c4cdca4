"""A picture knows what the loop and the news say together, and follows a large loop at little cost."""

from __future__ import annotations

from hypothesis import given
from msgspec.structs import replace

from aotloop.cli.live.picture.atom_overview import AtomOverview
from aotloop.cli.live.picture.overview import Overview
from aotloop.cli.live.run_view import Picture
from aotloop.core.limits import Limits
from aotloop.core.model import Constraints, Decomposition, Loop, OrGroup
from aotloop.execution import run_events
from tests.app.diagram.loops import any_loops, sign_in, unhurried
from tests.cli.live.running import AT, NOW, a_beginning
from tests.cli.repairs import LIMITS, PATIENT, worn_out
from tests.loops import a_loop, atom


def began(atom_id: str, attempt: int) -> run_events.AttemptBegan:
    return run_events.AttemptBegan(at=AT, atom=atom_id, attempt=attempt, role="worker", agent="x")


def ended(atom_id: str, attempt: int, outcome: str = "done") -> run_events.AttemptEnded:
    return run_events.AttemptEnded(at=AT, atom=atom_id, attempt=attempt, outcome=outcome)


def a_picture(*told: run_events.RunEvent, loop: Loop | None = None) -> Picture:
    picture = Picture(loop if loop is not None else a_loop(atom("A1"), atom("A2")))
    for one in told:
        picture.take(one)
    return picture


def looks(overview: Overview) -> dict[str, str | None]:
    return {row.name: look for row, look in zip(overview.rows, overview.looks, strict=True) if not row.is_group}


def counters(picture: Picture) -> tuple[str, ...]:
    return tuple(picture.overview.counters(picture.overriding))


def limits(picture: Picture) -> Limits:
    assert isinstance(picture.overview, AtomOverview)
    return picture.overview.limits(picture.overriding)


# --- what the news say -------------------------------------------------------------------------------------------


def test_an_attempt_is_there_from_its_beginning_to_its_end() -> None:
    picture = a_picture(began("A1", 1), began("A2", 2))
    picture.set_line(1, "compiling")
    picture.set_line(9, "nobody")
    assert (picture.running[1].atom, picture.running[1].since, picture.running[1].line) == ("A1", NOW, "compiling")
    picture.take(ended("A1", 1))
    assert list(picture.running) == [2]
    assert picture.merging == {"A1"}
    picture.take(run_events.Merged(at=AT, atom="A1", attempt=1))
    assert picture.merging == set()


def test_a_merge_is_blocked_until_it_is_done_or_tried_anew() -> None:
    blocked = run_events.NotMerged(at=AT, atom="A1", attempt=1, why="blocked", reason="your edits")
    assert a_picture(blocked).blocked == {"A1": "your edits"}
    assert a_picture(blocked, run_events.Merged(at=AT, atom="A1", attempt=1)).blocked == {}
    assert a_picture(blocked, began("A1", 2)).blocked == {}
    assert (
        a_picture(blocked, run_events.NotMerged(at=AT, atom="A1", attempt=1, why="conflict", reason="x")).blocked == {}
    )


def test_what_is_checked_is_known_while_it_is_checked() -> None:
    picture = a_picture(run_events.Verifying(at=AT), run_events.Verifying(at=AT, atom="A1"))
    assert picture.verifying == {None: NOW, "A1": NOW}
    picture.take(run_events.Verified(at=AT, passed=True))
    assert picture.verifying == {"A1": NOW}


def test_a_run_that_begins_or_ends_leaves_nothing_under_way() -> None:
    under_way = (began("A1", 1), run_events.Verifying(at=AT), ended("A2", 2))
    end = run_events.RunEnded(at=AT, status="stopped", reason="user: enough")
    for last in (a_beginning(), end):
        picture = a_picture(*under_way, last)
        assert not picture.running
        assert not picture.verifying
        assert not picture.merging
    assert a_picture(end).ended == end
    assert a_picture(end, a_beginning()).ended is None
    assert a_picture(a_beginning()).began == NOW


def test_what_a_person_did_after_a_run_counts_more_than_its_end() -> None:
    """Seen: a loop that was aligned again was shown as completed, with nothing resolved."""
    end = run_events.RunEnded(at=AT, status="stopped", reason="user: enough", seconds=7)
    for status, is_its_end in (("stopped", True), ("pending", False)):
        loop = a_loop(atom("A1"))
        loop.control = replace(loop.control, status=status)
        picture = a_picture(a_beginning(), end, loop=loop)
        picture.settle()
        assert (picture.ended, picture.began) == ((end, NOW) if is_its_end else (None, None))


def test_the_last_happenings_are_kept_in_words() -> None:
    picture = a_picture(*(run_events.AtomsAdded(at=AT, atoms=(f"B{number}",)) for number in range(50)))
    assert [one.text for one in picture.happened][-2:] == ["new: B48", "new: B49"]
    assert len(picture.happened) < 20


def test_a_time_that_is_none_is_left_out() -> None:
    for at in ("", "yesterday", "2026-13-45T00:00:00Z", "9" * 5000, "\x1b[2J"):
        picture = a_picture(run_events.Verifying(at=at))
        assert picture.verifying == {None: None}


def test_news_and_loop_agree_on_iterations_and_stalls() -> None:
    loop = a_loop(atom("A1"))
    picture = a_picture(run_events.GenerationEnded(at=AT, iteration=4, stall_count=2), loop=loop)
    assert counters(picture) == ("iteration 4 of 20", "stalls 2 of 3")
    loop.control = replace(loop.control, iteration=5, stall_count=0)
    picture.set_loop(loop)
    assert counters(picture) == ("iteration 5 of 20", "stalls 0 of 3")


# --- the loop ----------------------------------------------------------------------------------------------------


def test_every_look_is_told_from_the_others() -> None:
    loop = a_loop(
        atom("done", status="resolved"),
        atom("now", status="in_progress"),
        atom("next"),
        atom("later", "next"),
        atom("whole"),
        atom("part"),
        worn_out("tried"),
        atom("chosen", or_group="way"),
        atom("broken", or_group="way"),
        atom("other", or_group="way"),
        decompositions=[Decomposition(parent="whole", children=("part",), reason="large")],
        constraints=LIMITS,
    )
    loop.or_groups["way"] = OrGroup(choices=("chosen", "broken", "other"), selected="chosen", failed=("broken",))
    assert looks(AtomOverview(loop)) == {
        "done": "resolved",
        "now": "in_progress",
        "next": "ready",
        "later": "waiting",
        "whole": "decomposed",
        "part": "ready",
        "tried": "failed",
        "chosen": "ready",
        "broken": "failed",
        "other": "unselected",
    }


def test_parts_stand_under_what_was_split_and_choices_under_their_group() -> None:
    overview = AtomOverview(sign_in())
    assert [(row.depth, row.name) for row in overview.rows] == [
        (0, "A1"),
        (0, "A2"),
        (1, "A3"),
        (1, "token_method"),
        (2, "A4"),
        (2, "A4_alt"),
        (0, "A5"),
    ]
    assert [row.above for row in overview.rows] == [-1, -1, 1, 1, 3, 3, -1]


def test_a_change_of_the_caller_s_loop_reaches_the_picture_only_when_it_is_told() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"))
    picture = Picture(loop)
    loop.atoms[0] = atom("A1", status="resolved")
    assert looks(picture.overview) == {"A1": "ready", "A2": "waiting"}
    picture.set_loop(loop)
    assert looks(picture.overview) == {"A1": "resolved", "A2": "ready"}


@unhurried
@given(any_loops(), any_loops())
def test_following_a_loop_and_starting_with_it_come_to_the_same(before: Loop, after: Loop) -> None:
    changed = before.snapshot()
    changed.atoms = [replace(one, status="resolved") if number % 2 else one for number, one in enumerate(before.atoms)]
    changed.or_groups = {name: replace(group, failed=()) for name, group in before.or_groups.items()}
    picture = Picture(before)
    for loop in (changed, after, before):
        picture.set_loop(loop)
        anew = AtomOverview(loop)
        assert (picture.overview.rows, picture.overview.looks) == (anew.rows, anew.looks)
        assert (picture.overview.required, picture.overview.resolved) == (anew.required, anew.resolved)


def test_another_limit_is_noticed() -> None:
    repair = worn_out("A1")
    picture = Picture(a_loop(repair, constraints=Constraints(max_attempts=PATIENT + 1)))
    assert looks(picture.overview) == {"A1": "ready"}
    picture.set_loop(a_loop(repair, constraints=Constraints(max_attempts=1)))
    assert looks(picture.overview) == {"A1": "failed"}


def test_the_bound_is_that_of_the_loop_with_the_limits_of_this_run() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    picture = Picture(loop)
    assert picture.bound == 20
    loop.control = replace(loop.control, tried=3)
    picture.set_loop(loop)
    assert picture.bound == 17
    picture.take(a_beginning(overriding={"max_total_attempts": 8, "max_iterations": 2}))
    assert (picture.bound, counters(picture)) == (5, ("iteration 0 of 2", "stalls 0 of 3"))
    picture.take(a_beginning())
    assert picture.bound == 17


def test_limits_that_are_none_do_not_break_a_picture() -> None:
    for overriding in ({"max_iterations": "many"}, {"nobody": 3}, {"effort": "endless"}):
        assert limits(a_picture(a_beginning(overriding=overriding))) == limits(a_picture())


def half_spent() -> run_events.HalfSpent:
    return run_events.HalfSpent(at=AT, attempts=20, more=20, atoms=("A1",))


def test_that_a_person_should_look_stays_until_something_new_is_there_or_a_person_was() -> None:
    assert a_picture(half_spent(), began("A1", 3)).half_spent == half_spent()
    assert a_picture(half_spent()).bells == 1
    for later in (
        run_events.AtomResolved(at=AT, atom="A1"),
        run_events.Merged(at=AT, atom="A1", attempt=3),
        run_events.CorrectionTaken(at=AT, text="another way"),
        run_events.RunEnded(at=AT, status="stopped", reason="limit: x"),
        a_beginning(),
    ):
        assert a_picture(half_spent(), later).half_spent is None
