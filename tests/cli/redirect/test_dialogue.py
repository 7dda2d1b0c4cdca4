"""The dialogue of `aot redirect`, on a real terminal: everything waits while it is open, and goes on afterwards."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import Binding, Loop, OrGroup, TrailEntry
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agree, agreed
from tests.cli.terminal import Terminal, on_terminal, spawn, terminal
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, until

FAILURE = TrailEntry(reason="no luck", timestamp="2026-01-01T00:00:00Z", type="failure", atom="A2", attempt=1)
MENU = "Number: "


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


@pytest.fixture
def path(project: Path) -> Path:
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1", status="in_progress", attempts=1),
        atom("B1", or_group="way"),
        atom("B2", or_group="way"),
        trail=[FAILURE],
        or_groups={"way": OrGroup(choices=("B1", "B2"), selected="B2", failed=("B1",))},
    )
    loop.control = replace(loop.control, iteration=3, stall_count=2)
    return write_loop(project, loop)


def leave(screen: Terminal) -> int:
    screen.answer((MENU, ""))
    return screen.end()


# --- while it is open --------------------------------------------------------------------------------------------


def test_it_interrupts_at_once_and_shows_where_the_loop_stands(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        loop = loop_in(path)
        assert loop.control.redirect_requested
        assert loop.control.epoch == 1
        assert loop.atoms[1].status == "pending"  # whoever was at it is to end
        assert holder_of(str(path), "redirect") is not None
        shown = screen.text
    for told in (
        "It works",
        "somebody needs it",
        "the tests pass",
        "Not resolved: 2 of 3 required atoms",
        "A2  do A2  ready, after A1, failed once",
        "way: B1 (tried in this round), B2 (selected)",
        "running: iteration 3 of 20, stalls 2 of 3",
        "✘ A2: no luck",
        "nothing, continue",
        "stop the loop",
    ):
        assert told in shown, shown


@pytest.mark.parametrize("way", ["\n", "0\n", "\x04"], ids=["enter", "zero", "ctrl-d"])
def test_to_leave_it_lets_the_loop_go_on(path: Path, way: str) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        screen.type(way)
        assert screen.end() == 0
    assert "No process runs the loop now.\nNext: aot run" in screen.text
    loop = loop_in(path)
    assert not loop.control.redirect_requested
    assert loop.corrections == []
    assert holder_of(str(path), "redirect") is None


def test_whoever_runs_the_loop_goes_on_with_it(path: Path) -> None:
    with held_by_another(path) as runner, terminal("redirect") as screen:
        assert leave(screen) == 0
    assert f"The loop continues.\nNext: process {runner.pid} continues with this" in screen.text


@pytest.mark.parametrize("after", ["", "3\n"], ids=["at the menu", "at a question"])
def test_ctrl_c_leaves_it_too(path: Path, after: str) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        screen.type(after)
        screen.wait_for("What has to be done? " if after else MENU)
        screen.type("\x03")
        assert screen.end() == 130
    assert screen.text.endswith("aot: interrupted\n")
    assert not loop_in(path).control.redirect_requested


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_takes_the_request_back(path: Path, number: signal.Signals) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        holder = holder_of(str(path), "redirect")
        assert holder is not None
        assert holder.pid is not None
        os.kill(holder.pid, number)
        assert screen.end() == 128 + number
    assert not loop_in(path).control.redirect_requested


def test_killed_it_leaves_a_request_that_belongs_to_nobody(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        holder = holder_of(str(path), "redirect")
        assert holder is not None
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        screen.end()
    assert loop_in(path).control.redirect_requested
    assert holder_of(str(path), "redirect") is None  # by which whoever runs the loop knows that it has expired
    with terminal("redirect") as screen:  # and another dialogue is a request of its own
        screen.wait_for(MENU)
        assert loop_in(path).control.epoch == 2
        assert leave(screen) == 0
    assert not loop_in(path).control.redirect_requested


def test_a_second_dialogue_is_told_about_the_first(path: Path) -> None:
    with terminal("redirect") as first:
        first.wait_for(MENU)
        holder = holder_of(str(path), "redirect")
        assert holder is not None
        code, second = on_terminal("redirect", columns=200)
        assert code == 1
        assert f"process {holder.pid} is changing the direction of this loop since 20" in second.text
        assert loop_in(path).control.redirect_requested
        assert leave(first) == 0


def test_stop_works_while_it_is_open(path: Path) -> None:
    with held_by_another(path, obeys=True), terminal("redirect") as screen:
        screen.wait_for(MENU)
        assert spawn("stop", "--reason", "enough").code == 0
        assert leave(screen) == 0
    assert "The loop continues." not in screen.text
    assert "No process runs the loop now." in screen.text
    control = loop_in(path).control
    assert (control.status, control.stop_reason, control.redirect_requested) == ("stopped", "user: enough", False)


# --- each kind of change -----------------------------------------------------------------------------------------


def test_the_goal(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "1"),
            ("Which part? (number; Enter: none) ", "goal"),
            ("What should it be? ", "It flies"),
            ("Apply it? [y/N] ", "y"),
        )
        screen.wait_for("✔ goal is now: It flies")
        assert leave(screen) == 0
    assert loop_in(path).objective.goal == "It flies"
    assert agreed(str(path)) == loop_in(path).objective


def test_the_commands_of_the_base_case(path: Path) -> None:
    assert spawn("verify", "--yes").code == 0
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "1"),
            ("Which part? (number; Enter: none) ", "5"),
            ("$ ", "true"),
            ("$ ", "echo fine"),
            ("$ ", ""),
            ("Apply it? [y/N] ", "y"),
        )
        assert leave(screen) == 0
    checklist = loop_in(path).objective.base_case.checklist
    assert checklist is not None
    assert len(checklist) == 2
    assert spawn("verify").code == 0  # what was typed here need not be asked again


def test_protected_files(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "1"),
            ("Which part? (number; Enter: none) ", "protect"),
            ("Which glob? ", "tests/**"),
            ("Apply it? [y/N] ", "y"),
        )
        screen.answer((MENU, "1"), ("Which part? (number; Enter: none) ", "unprotect"), ("Which glob? ", "docs/**"))
        screen.wait_for("✘ This is not possible: docs/** is not protected. Protected: tests/**.")
        screen.answer(
            (MENU, "1"),
            ("Which part? (number; Enter: none) ", "unprotect"),
            ("Which glob? ", "tests/**"),
            ("Apply it? [y/N] ", "y"),
        )
        assert leave(screen) == 0
    assert loop_in(path).objective.protect == ()
    assert len(loop_in(path).corrections) == 2


def test_a_limit(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "2"),
            ("Which one? (number; Enter: none) ", "max_iterations"),
            ("What should it be? (none: unset it) ", "many"),
        )
        screen.wait_for("'many' is not a whole number")
        screen.answer(
            (MENU, "2"), ("Which one? (number; Enter: none) ", "2"), ("What should it be? (none: unset it) ", "40")
        )
        screen.wait_for("This change would be made: max_iterations 20 (by effort) → 40")
        screen.answer(("Apply it? [y/N] ", "y"))
        assert leave(screen) == 0
    assert loop_in(path).objective.constraints.max_iterations == 40


def test_an_atom_more(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "3"), ("What has to be done? ", "more"), ("After which…) ", "A1, A2"))
        screen.answer(("which group?…) ", ""), ("Which command does it?…) ", "make more"), ("Apply it? [y/N] ", "y"))
        assert leave(screen) == 0
    added = loop_in(path).atoms[-1]
    assert (added.id, added.description, added.depends_on, added.run) == ("A3", "more", ("A1", "A2"), "make more")


def test_an_atom_less(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "4"), ("Which one? (number; Enter: none) ", "A2"))
        screen.wait_for("removed A2: do A2")
        screen.answer(("Apply it? [y/N] ", "y"))
        assert leave(screen) == 0
    assert [one.id for one in loop_in(path).atoms] == ["A1", "B1", "B2"]


def test_another_choice(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "5"),
            ("For which group? (number; Enter: none) ", "way"),
            ("Which choice? (number; Enter: none) ", "B1"),
            ("Apply it? [y/N] ", "y"),
        )
        assert leave(screen) == 0
    assert loop_in(path).or_groups["way"].selected == "B1"


def test_another_summary(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "6"), ("The result of which atom? (number; Enter: none) ", "1"))
        screen.wait_for("Now: did A1")
        screen.answer(("What should it be? ", "did it anew"), ("Apply it? [y/N] ", "y"))
        assert leave(screen) == 0
    assert loop_in(path).bindings == {"A1": Binding(summary="did it anew")}


def test_new_attempts(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "7"), ("Which one? (number; Enter: none) ", "A2"), ("Apply it? [y/N] ", "y"))
        assert leave(screen) == 0
    assert loop_in(path).atoms[1].attempts == 0


def test_what_was_changed_in_the_file_is_shown_and_can_be_taken(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        assert "accept the changes" not in screen.text
        assert leave(screen) == 0
    agree(str(path), loop_in(path).objective)
    path.write_text(path.read_text().replace("It works", "It is cheap"))
    with terminal("redirect") as screen:
        screen.wait_for('+goal: "It is cheap"')
        screen.answer((MENU, "8"), ("Apply it? [y/N] ", "y"))
        screen.wait_for("accepted the changes")
        assert leave(screen) == 0
    assert agreed(str(path)) == loop_in(path).objective
    assert loop_in(path).corrections[-1].type == "objective_change"


def test_the_loop_is_stopped_from_within(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "9"), ("Why? (Enter: no reason) ", "enough"))
        screen.wait_for("✔ the loop is stopped (user: enough)")
        assert screen.end() == 0
    control = loop_in(path).control
    assert (control.status, control.redirect_requested) == ("stopped", False)


def test_the_loop_is_stopped_from_within_while_somebody_runs_it(path: Path) -> None:
    with held_by_another(path, obeys=True) as runner, terminal("redirect") as screen:
        screen.answer((MENU, "9"), ("Why? (Enter: no reason) ", ""))
        assert screen.end() == 0
        assert runner.wait(PATIENCE) == 0
    control = loop_in(path).control
    assert (control.status, control.redirect_requested) == ("stopped", False)


# --- second thoughts ---------------------------------------------------------------------------------------------


def test_several_changes_and_everything_waits_until_the_end(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "7"), ("Which one? (number; Enter: none) ", "A2"), ("Apply it? [y/N] ", "y"))
        screen.wait_for(MENU)
        assert loop_in(path).control.redirect_requested  # never let go in between
        first = loop_in(path).control.epoch
        screen.answer(
            (MENU, "2"),
            ("Which one? (number; Enter: none) ", "max_iterations"),
            ("What should it be? (none: unset it) ", "40"),
            ("Apply it? [y/N] ", "y"),
        )
        screen.wait_for(MENU)
        assert loop_in(path).control.epoch > first
        assert leave(screen) == 0
    assert [one.type for one in loop_in(path).corrections] == ["dag_adjustment", "constraint_change"]
    assert not loop_in(path).control.redirect_requested


def test_nothing_is_done_without_a_yes(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "4"), ("Which one? (number; Enter: none) ", "A2"), ("Apply it? [y/N] ", ""))
        screen.wait_for("Nothing was changed.")
        assert leave(screen) == 0
    assert loop_in(path).corrections == []


@pytest.mark.parametrize("kind", ["1", "2", "3", "4", "5", "6", "7"])
def test_every_question_can_be_left_unanswered(path: Path, kind: str) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, kind), ("What has to be done? " if kind == "3" else "(number; Enter: none) ", ""))
        assert leave(screen) == 0
    assert loop_in(path).corrections == []


def test_what_makes_no_sense_is_asked_again(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer((MENU, "77"))
        screen.wait_for("77 is not in the list.")
        screen.answer((MENU, "4"), ("Which one? (number; Enter: none) ", "A9"))
        screen.wait_for("A9 is not in the list.")
        screen.answer(("Which one? (number; Enter: none) ", "\x1b[D"))
        screen.wait_for("invisible characters")
        screen.answer(("Which one? (number; Enter: none) ", ""))
        assert leave(screen) == 0
    assert loop_in(path).corrections == []


def test_what_the_machine_refuses_is_said_and_the_dialogue_goes_on(path: Path) -> None:
    with terminal("redirect") as screen:
        screen.answer(
            (MENU, "3"),
            ("What has to be done? ", "more"),
            ("After which…) ", "A9"),
            ("which group?…) ", ""),
            ("Which command does it?…) ", ""),
        )
        screen.wait_for("✘ This is not possible: there is no atom A9.")
        assert leave(screen) == 0
    assert loop_in(path).corrections == []


def test_a_loop_without_groups_or_failures_says_so(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    with terminal("redirect") as screen:
        screen.answer((MENU, "5"))
        screen.wait_for("The loop has no OR group.")
        screen.answer((MENU, "7"))
        screen.wait_for("No atom can be chosen: nothing has failed.")
        screen.answer((MENU, "6"))
        screen.wait_for("No atom can be chosen: nothing is resolved.")
        assert leave(screen) == 0
    until(lambda: not loop_in(path).control.redirect_requested)


def test_what_others_wrote_cannot_steer_the_terminal(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", description="\x1b[2Jcleared\x1b]0;title\x07")))
    with terminal("redirect") as screen:
        screen.wait_for(MENU)
        assert "cleared" in screen.text
        assert "\x1b[2J" not in screen.shown
        assert "title" not in screen.text
        assert leave(screen) == 0
