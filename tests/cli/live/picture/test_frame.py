"""A frame fits the terminal, whatever its size and whatever is in the loop; what matters most is in it."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from rich.console import Console

from aotloop.cli.live.picture.frame import draw
from aotloop.cli.live.picture.styled_lines import Lines
from aotloop.cli.live.run_view import Picture
from aotloop.core.model import Constraints, Loop
from aotloop.execution import run_events
from aotloop.execution.run_events import RunEvent
from tests.app.diagram.loops import HOSTILE, any_loops, nested, sign_in, unhurried
from tests.cli.live.running import AT, NOW, a_beginning
from tests.cli.repairs import LIMITS, PATIENT, worn_out
from tests.loops import a_loop, atom
from tests.steps import lines_run

WIDTHS = (40, 80, 120, 200)
HEIGHTS = (1, 2, 5, 10, 24, 60)


def a_picture(loop: Loop, *told: RunEvent, lines: dict[int, str] | None = None) -> Picture:
    picture = Picture(loop)
    for one in told:
        picture.take(one)
    for attempt, line in (lines or {}).items():
        picture.set_line(attempt, line)
    return picture


def began(atom_id: str, attempt: int, at: str = AT, **more: Any) -> RunEvent:
    fields = {"role": "worker", "agent": "claude", **more}
    return run_events.AttemptBegan(at=at, atom=atom_id, attempt=attempt, **fields)


def text(picture: Picture, width: int = 80, height: int = 24, now: float = NOW) -> str:
    return draw(picture, width, height, now).text()


def printed(frame: Lines, width: int, height: int) -> str:
    """As rich writes it to a terminal."""
    file = io.StringIO()
    Console(file=file, force_terminal=True, width=width, height=height, color_system="standard").print(frame, end="")
    return file.getvalue()


def assert_fits(picture: Picture, width: int, height: int) -> None:
    frame = draw(picture, width, height, NOW)
    lines = frame.text().splitlines()
    assert len(lines) <= height
    assert [line for line in lines if cell_len(line) > width or not line.replace("\u200c", "").isprintable()] == []
    plain = Console(file=io.StringIO(), width=width, height=height, no_color=True)
    plain.print(draw(picture, width, height, NOW, colour=False), end="")
    assert plain.file.getvalue() == frame.text()  # type: ignore[attr-defined]


def test_the_time_of_the_loop_goes_on_between_two_changes() -> None:
    loop = a_loop(atom("A1"), status="running")
    loop.objective = replace(loop.objective, constraints=Constraints(max_runtime="2h"))
    loop.control = replace(loop.control, ran_seconds=100.0)
    picture = a_picture(loop, a_beginning(), began("A1", 1))
    happened = picture.happened[-1].at or 0.0
    assert "1m 40s of 2h used" in text(picture, 120, now=happened)
    assert "2m 20s of 2h used" in text(picture, 120, now=happened + 40)
    picture.take(run_events.RunEnded(at=AT, status="stopped", seconds=1.0))
    assert "1m 40s of 2h used" in text(picture, 120, now=happened + 40)


def large(count: int) -> Loop:
    """A third is done, a hundred are ready, the rest waits."""
    atoms = [
        atom(f"A{number}", *([f"A{number - 100}"] if number >= 100 else []), description=f"port part {number}")
        for number in range(count)
    ]
    atoms[: count // 3] = [replace(one, status="resolved") for one in atoms[: count // 3]]
    return a_loop(*atoms)


# --- what is in it -----------------------------------------------------------------------------------------------


def test_all_of_a_small_loop_at_eighty_columns() -> None:
    loop = sign_in()
    loop.objective = replace(loop.objective, constraints=Constraints(max_cost_usd=5.0))
    loop.control = replace(loop.control, cost_usd=1.25)
    loop.atoms.append(atom("B1", attempts=1, description="日本語の説明" * 8))
    told = (
        a_beginning(at="2025-12-31T23:58:00Z", branch="main"),
        began("A4", 7, at="2025-12-31T23:59:48Z"),
        run_events.Verifying(at=AT),
        run_events.NotMerged(at=AT, atom="B1", attempt=3, why="blocked", reason="your edits of a.py"),
    )
    picture = a_picture(loop, *told, lines={7: "14 passed"})
    assert picture.bound == 60
    assert text(picture).splitlines() == [
        "Users can sign in",
        "running  ██████████░░░░░░░░░░░░░░░░░░░░  2 of 6 required atoms resolved",
        "iteration 1 of 20 · stalls 0 of 3 · $1.25 of $5.00 · 2m 00s",
        "1 attempt under way · on main · at most 60 more attempts",
        "",
        "✔ A1            Choose the schema of the user table",
        "○ B1            日本語の説明日本語の説明日本語の説明日本語…   waits to be merged",
        "◇ A2            Implement authentication                            1 of 2 parts",
        "  ✔ A3          Hash passwords",
        "  ◆ token_method: one of 2",
        "    ▸ ● A4      Issue signed tokens                         claude · try 1 · 12s",
        "                │ 14 passed",
        "      · A4_alt  Keep sessions in the database",
        "◌ A5            Wire the endpoints together                                 ← A4",
        "",
        "● the base case is being checked  0s",
        "! B1 waits to be merged: your edits of a.py",
        " 2m ago  the run began on main, up to 1 at once: all of it",
        "12s ago  A4: attempt 7 began, by claude",
        " 0s ago  base case: being checked",
        " 0s ago  B1: waits to be merged: your edits of a.py",
    ]


def test_at_forty_columns_the_same_is_said_in_fewer_words() -> None:
    picture = a_picture(sign_in(), a_beginning(), began("A4", 7))
    shown = text(picture, width=40, height=24, now=NOW + 192)
    assert "    ▸ ● A4      Issue sig…  3m 12s try 1" in shown.splitlines()
    assert "running  █" in shown
    assert "2 of 5\n" in shown


def test_failed_attempts_are_counted_and_probes_are_told_from_work() -> None:
    picture = a_picture(
        a_loop(
            atom("A1", attempts=1, failures=1, status="in_progress"),
            worn_out("A2"),
            atom("A3", failures=5),
            atom("A4"),
            atom("B1", or_group="way", attempts=1, failures=5),
            atom("B2", or_group="way"),
            constraints=LIMITS,
        ),
        began("A1", 1),
        began("A4", 2, role="probe"),
    )
    by_atom = {line.split()[1]: line for line in text(picture).splitlines() if line.startswith(("●", "✘", "○"))}
    assert "try 2" in by_atom["A1"]
    assert by_atom["A2"].startswith("✘")
    assert by_atom["A2"].endswith(f"failed {PATIENT} of {PATIENT} times")
    assert by_atom["A3"].startswith("○")
    assert by_atom["A3"].endswith("failed 5 times")
    assert "failed 1 of 2 in this turn, 5 in all" in text(picture)
    assert "is probing" in by_atom["A4"]


def test_work_that_is_done_is_being_merged_or_checked() -> None:
    picture = a_picture(
        a_loop(atom("A1", status="in_progress"), atom("A2", status="in_progress")),
        run_events.AttemptEnded(at=AT, atom="A1", attempt=1, outcome="done"),
        run_events.Verifying(at=AT, atom="A2"),
    )
    shown = text(picture).splitlines()
    assert any(line.startswith("● A1") and line.endswith("being merged") for line in shown)
    assert any(line.startswith("● A2") and line.endswith("being checked") for line in shown)


def test_the_end_is_told_with_its_reason() -> None:
    ended = run_events.RunEnded(at=AT, status="stopped", reason="limit: 20 iterations", seconds=3700)
    shown = text(a_picture(a_loop(atom("A1")), a_beginning(), began("A1", 1), ended), now=NOW + 10**6)
    assert "stopped  " in shown
    assert "■ limit: 20 iterations" in shown
    assert "1h 01m" in shown
    assert "under way" not in shown


def test_an_empty_loop_is_no_error() -> None:
    assert "no atoms yet" in text(Picture(a_loop()))


# --- what does not fit -------------------------------------------------------------------------------------------


def test_what_runs_failed_or_comes_next_is_kept_and_the_rest_is_counted() -> None:
    loop = large(300)
    loop.objective = replace(loop.objective, constraints=LIMITS)
    loop.atoms[150] = replace(loop.atoms[150], status="in_progress")
    loop.atoms[160] = replace(loop.atoms[160], attempts=PATIENT, repairs="it works")
    picture = a_picture(loop, began("A150", 1), lines={1: "half way"})
    lines = text(picture).splitlines()
    assert any(line.startswith("● A150") for line in lines)
    assert any(line.strip() == "│ half way" for line in lines)
    assert any(line.startswith("✘ A160") for line in lines)
    assert any(line.startswith("○ ") for line in lines)
    shown = sum(line.startswith(("✔ A", "● A", "✘ A", "○ A", "◌ A")) for line in lines)
    folded = [line for line in lines if line.startswith("… ")]
    assert folded[0] == "… 100 resolved"
    counts = [int(part.split()[0]) for line in folded for part in line.removeprefix("… ").split(", ")]
    assert sum(counts) + shown == 300


def test_more_running_than_there_are_lines_is_counted_as_well() -> None:
    loop = a_loop(*(atom(f"A{number}", status="in_progress") for number in range(100)))
    picture = a_picture(loop, *(began(f"A{number}", number) for number in range(100)))
    for height in HEIGHTS:
        assert_fits(picture, 80, height)
    assert "… 8" in text(picture)
    assert " in progress" in text(picture)


def test_a_running_part_is_shown_with_what_it_is_a_part_of() -> None:
    loop = sign_in()
    loop.atoms += [atom(f"B{number}", status="resolved") for number in range(100)]
    lines = text(a_picture(loop, began("A4", 1)), height=16).splitlines()
    parts = [line.split()[1] for line in lines if line.lstrip().startswith(("◇", "◆", "▸"))]
    assert parts[:3] == ["A2", "token_method:", "●"]


def test_the_output_of_what_is_nested_deep_is_still_there() -> None:
    loop = nested(500)
    loop.atoms[-1] = replace(loop.atoms[-1], status="in_progress")
    picture = a_picture(loop, began("A499", 1), lines={1: "deep down"})
    shown = text(picture, width=60, height=24)
    assert "A499" in shown
    assert "deep down" in shown
    assert_fits(picture, 60, 24)


# --- any size, any content ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", HEIGHTS)
def test_it_is_never_wider_or_higher_than_asked(width: int, height: int) -> None:
    for loop in (sign_in(), large(500), a_loop()):
        told = [a_beginning(), *(began(one.id, number, agent="x" * 50) for number, one in enumerate(loop.atoms[:4]))]
        assert_fits(a_picture(loop, *told, lines={0: "日本" * 300, 1: "y" * 5000}), width, height)


@unhurried
@given(any_loops(), st.sampled_from(WIDTHS), st.integers(1, 60), st.data())
def test_nothing_in_a_loop_can_break_a_frame(loop: Loop, width: int, height: int, data: st.DataObject) -> None:
    texts = st.sampled_from(HOSTILE) | st.text()
    picture = a_picture(
        loop,
        a_beginning(branch=data.draw(texts), goal=data.draw(texts)),
        *(began(one.id, number, agent=data.draw(texts)) for number, one in enumerate(loop.atoms)),
        run_events.NotMerged(at=AT, atom=data.draw(texts), attempt=1, why="blocked", reason=data.draw(texts)),
        run_events.Verifying(at=AT, atom=data.draw(texts)),
        lines={0: data.draw(texts)},
    )
    assert_fits(picture, width, height)


def test_no_sequence_of_an_atom_reaches_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\n\x1b[31mX"
    loop = a_loop(atom(f"A1{evil}", description=evil, status="in_progress"), atom("A2", or_group=evil))
    loop.objective = replace(loop.objective, goal=evil)
    picture = a_picture(loop, a_beginning(branch=evil), began(f"A1{evil}", 1, agent=evil), lines={1: evil})
    shown = printed(draw(picture, 80, 24, NOW), 80, 24)
    assert "\x1b]" not in shown
    assert "\x1b[8m" not in shown
    assert not set("\x07\x9b\u202e\r") & set(shown)


def test_wide_characters_leave_the_columns_where_they_are() -> None:
    loop = a_loop(
        *(atom(name, description=description, attempts=1) for name, description in (
            ("短い", "日本語の説明" * 20),
            ("A2", "plain words " * 20),
            ("A3", "👩\u200d💻 e\u0301" * 40),
        ))
    )  # fmt: skip
    for width in WIDTHS:
        rows = [line for line in text(Picture(loop), width=width).splitlines() if "failed" in line]
        assert [cell_len(line) for line in rows] == [width] * 3
        begins = {cell_len(line[: line.index(word)]) for line, word in zip(rows, ("日", "plain", "👩"), strict=True)}
        assert len(begins) == 1


def test_colours_are_left_out_when_they_are_not_wanted() -> None:
    picture = a_picture(sign_in(), began("A4", 1))
    assert "\x1b[" in printed(draw(picture, 80, 24, NOW), 80, 24)
    assert "\x1b[" not in printed(draw(picture, 80, 24, NOW, colour=False), 80, 24)


# --- speed -------------------------------------------------------------------------------------------------------


def test_the_next_frame_of_ten_thousand_atoms_needs_far_less_than_ten_times_that_of_a_thousand() -> None:
    def needed(count: int) -> int:
        loop = large(count)
        first = count * 2 // 5
        picture = a_picture(loop, *(began(f"A{number}", number) for number in range(first, first + 10)))
        draw(picture, 120, 50, NOW)
        loop.atoms[first - 60] = replace(loop.atoms[first - 60], status="resolved")

        def redraw() -> None:
            picture.set_loop(loop)
            printed(draw(picture, 120, 50, NOW + 1), 120, 50)

        return lines_run(redraw)

    needed(100)  # what is learnt once is learnt here
    assert needed(10_000) < 7 * needed(1000)
