"""`aot status` tells at a glance where the loop stands, on any terminal, and what to do next."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from rich.cells import cell_len

from aotloop.core.model import Loop, TrailEntry, Verdict
from tests.cli.terminal import aot, on_terminal, spawn
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

LONG = "A description of work that is far too long to fit into one line of a narrow terminal, 日本語も含む"


def failure(atom_id: str, reason: str) -> TrailEntry:
    return TrailEntry(
        or_group=None, selected=None, reason=reason, timestamp="t", type="failure", atom=atom_id, attempt=1
    )


def test_it_shows_objective_progress_and_graph(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1"), atom("A3", "A2"), atom("A4")))
    ran = aot("status")
    assert ran.code == 0
    assert ran.out.startswith("It works\ndone when: the tests pass\nrunning  █████░")
    assert "1 of 4 required atoms resolved" in ran.out
    assert "do A3" in ran.out
    assert ran.err == "Next: aot run\n"


def test_json_has_the_facts(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1", status="in_progress"), atom("A3", "A2")))
    facts = aot("status", "--json").json
    assert facts["unresolved"] == ["A2", "A3"]
    assert facts["in_progress"] == ["A2"]
    assert facts["executable_atoms"] == []
    assert facts["control"]["status"] == "running"
    assert facts["next"] == ["aot run"]


def test_what_went_wrong_is_shown(project: Path) -> None:
    loop = a_loop(atom("A1"), status="stopped", trail=[failure("A1", "no\nluck")])
    verdict = Verdict(passed=False, objective_digest="x", at="today", failing=("tests", "lint"))
    loop.control = replace(loop.control, stop_reason="user: lunch", verdict=verdict)
    write_loop(project, loop)
    out = aot("status").out
    assert "stop reason: user: lunch" in out
    assert "✘ base case at today: it does not hold: tests, lint" in out
    assert "✘ A1 failed: no luck" in out


def test_the_last_failure_of_each_atom_is_shown_with_how_often_it_failed(project: Path) -> None:
    reasons = [failure(name, f"{name} {number}") for number in range(3) for name in ("A1", "A2", "A3", "A4")]
    write_loop(project, a_loop(*(atom(f"A{one}", attempts=3, failures=3) for one in range(1, 5)), trail=reasons))
    told = [line for line in aot("status").out.splitlines() if line.startswith("✘")]
    assert told == [f"✘ A{one} failed: A{one} 2  failed 3 times" for one in (2, 3, 4)]


def test_failures_of_an_atom_that_was_removed_are_not_shown(project: Path) -> None:
    loop = a_loop(atom("A1"))
    loop.trail = [failure("gone", "no luck"), failure("A1", "bad luck")]
    write_loop(project, loop)
    out = aot("status").out
    assert "A1 failed: bad luck" in out
    assert "gone failed" not in out


def undecided(loop: Loop) -> Loop:
    verdict = Verdict(passed=False, undecided=True, objective_digest="x", at="today")
    loop.control = replace(loop.control, verdict=verdict)
    return loop


def test_while_somebody_runs_it_the_next_steps_are_about_that(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    with held_by_another(path):
        assert aot("status").err == "Next: aot watch  ·  aot redirect  ·  aot stop\n"


def test_a_pause_is_shown_while_a_run_lasts(project: Path) -> None:
    """Seen: `aot watch` said "paused", and `aot status` did not."""
    loop = a_loop(atom("A1"))
    loop.control = replace(loop.control, paused=True)
    path = write_loop(project, loop)
    with held_by_another(path):
        ran = aot("status")
        assert "running  paused  ░" in ran.out
        assert ran.err == "Next: aot resume  ·  aot watch  ·  aot stop\n"
    assert "paused" not in aot("status").out


def test_the_next_step_follows_from_the_state(project: Path) -> None:
    for loop, step in (
        (a_loop(atom("A1"), status="pending"), "aot gate  ·  aot run"),
        (a_loop(atom("A1", status="resolved")), "aot run"),
        (a_loop(atom("A1", status="resolved"), status="completed"), "aot run"),
        (undecided(a_loop(atom("A1", status="resolved"), status="stopped")), "aot confirm"),
    ):
        write_loop(project, loop)
        assert step in aot("status").err


def test_after_a_limit_the_next_step_is_a_run_with_a_higher_one_as_the_run_said(project: Path) -> None:
    reason = "limit: its runtime of 3s is used up"
    loop = a_loop(atom("A1"), status="stopped")
    write_loop(project, replace(loop, control=replace(loop.control, stop_reason=reason)))
    assert aot("status").err == "Next: aot run with a higher limit  ·  aot log  ·  aot redirect\n"


def test_no_line_is_wider_than_a_narrow_terminal(project: Path) -> None:
    atoms = [atom(f"A{number}", description=LONG) for number in range(1, 5)]
    loop = a_loop(*atoms, trail=[failure("A1", LONG)])
    loop.objective = replace(loop.objective, goal=LONG, definition_of_done=LONG)
    write_loop(project, loop)
    for words in (["status"], ["atom", "list"], ["atom", "show", "A1"], ["graph"], ["log"], ["gate", "--no-run"]):
        _, screen = on_terminal(*words, columns=60)
        assert max(map(cell_len, screen.text.splitlines())) <= 60, (words, screen.text)
        assert "too long to" in " ".join(screen.text.split()) or words == ["gate", "--no-run"]


def test_what_is_piped_is_not_broken_into_lines(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", description=LONG * 3)))
    assert LONG * 3 in spawn("atom", "list").out


def test_a_large_graph_is_left_to_its_own_command(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}") for number in range(41))))
    ran = aot("status")
    assert "0 of 41 required atoms resolved" in ran.out
    assert "do A7" not in ran.out


def test_it_is_found_from_a_folder_below(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    (project / "deep").mkdir()
    assert spawn("status", cwd=project / "deep").code == 0


def test_colours_are_for_terminals_and_for_who_wants_them(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1", status="pending")))
    for words in (["status"], ["graph"], ["atom", "list"], ["atom", "show", "A1"], ["validate"]):
        assert "\x1b" in on_terminal(*words)[1].shown, words
        assert "\x1b" not in on_terminal(*words, environ={"NO_COLOR": "1"})[1].shown, words
    assert "\x1b" not in on_terminal("status", environ={"TERM": "dumb"})[1].shown
    assert "\x1b" in on_terminal("status", environ={"NO_COLOR": ""})[1].shown
    piped = spawn("status")
    assert "\x1b" not in piped.out + piped.err
