"""`aot run --dry-run` shows what a run would do; running itself is still to come, and said to be."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from rich.cells import cell_len

from aotloop.core.model import Constraints
from tests.cli.repairs import LIMITS, worn_out
from tests.cli.terminal import aot, on_terminal, spawn
from tests.loops import a_loop, atom, write_loop

LONG = "A description of work that is far too long to fit into one line of a narrow terminal, 日本語も含む"
SMALL = a_loop(atom("A1", estimate=5.0), atom("A2", "A1", estimate=10.0), atom("A3", "A1"), status="pending")


def test_a_run_asks_before_it_runs_the_commands_of_a_file(project: Path) -> None:
    write_loop(project, SMALL)
    ran = spawn("run", "--agent", "shell")
    assert (ran.code, ran.out) == (1, "")
    assert "the commands of this file have not been accepted yet" in ran.err


def test_a_run_that_nobody_can_do_is_refused_with_what_to_do(project: Path) -> None:
    write_loop(project, SMALL)
    ran = spawn("run", "--yes", "--json")
    assert ran.code == 3
    assert ran.json["error"] == "there is no agent to do: A1, A2, A3"
    assert "--agent" in ran.json["hint"]
    plain = spawn("run", "--yes").err
    assert plain.startswith("aot: there is no agent to do: A1, A2, A3\n"), "a refusal says nothing else"


def test_a_dry_run_shows_order_width_critical_path_makespan_and_bounds(project: Path) -> None:
    write_loop(project, SMALL)
    ran = aot("run", "--dry-run")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "If every attempt succeeds: 3 atoms",
        "  begin  slot  atom",
        "      0     1  A1  do A1  5 min",
        "      5     1  A2  do A2  10 min",
        "      5     2  A3  do A3  no estimate",
        "  estimates      1 of 3 atoms have none and count as 1 min",
        "  width          2 at once, of 3 slots",
        "  critical path  A1 → A2: 15 min",
        "  makespan       15 min; with 3 slots at least 15 min",
        "  worst case     at most 30 more attempts",
        "  iterations     1, of 20 allowed",
    ]
    assert ran.err == "Next: aot gate  ·  aot graph\n"


def test_without_estimates_it_counts_steps_and_atoms(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 5)), atom("A5", "A1"), status="pending"))
    out = aot("run", "--dry-run", "--max-parallel", "2").out
    assert "\n   step  slot  atom\n      1     1  A1  do A1\n" in out
    assert "critical path  A1 → A5: 2 atoms" in out
    assert "makespan       3 steps; with 2 slots at least 3 steps" in out


def test_json_has_the_whole_plan(project: Path) -> None:
    write_loop(project, SMALL)
    ran = aot("run", "--dry-run", "--json", "--max-parallel", "1")
    assert (ran.code, ran.err) == (0, "")
    plan = ran.json
    assert [one["atom"] for one in plan["attempts"]] == ["A1", "A2", "A3"]
    assert plan["attempts"][1] == {
        "attempt": 2,
        "atom": "A2",
        "role": "worker",
        "slot": 1,
        "begin": 5.0,
        "end": 15.0,
        "beside": 1,
        "is_cancelled": False,
        "estimate": 10.0,
    }
    assert plan["critical_path"] == {"atoms": ["A1", "A2"], "length": 15.0}
    assert (plan["makespan"], plan["lower_bound"], plan["slots"], plan["width"]) == (16.0, 16.0, 1, 1)
    assert plan["iterations"] == {"before": 0, "planned": 1, "needed": 1, "allowed": 20}
    assert (plan["completes"], plan["reason"], plan["unit"], plan["unestimated"]) == (True, None, "minutes", 1)
    assert plan["attempts_left_at_most"] == 30
    assert not {"growth_magnitude", "attempts_left_magnitude"} & plan.keys()


def test_a_plan_that_does_not_get_to_the_end_says_why_and_what_would_help(project: Path) -> None:
    chain = [atom(f"A{number}", *([f"A{number - 1}"] if number > 1 else [])) for number in range(1, 5)]
    write_loop(project, a_loop(*chain, status="pending", constraints=Constraints(max_total_attempts=3)))
    ran = aot("run", "--dry-run")
    assert ran.code == 5
    assert ran.out.endswith("✘ the run would end with: limit: 3 attempts of the 3 allowed\n")
    assert ran.err == "Next: aot run --max-total-attempts 4  ·  aot redirect\n"
    assert aot("run", "--dry-run", "--max-total-attempts", "4").code == 0
    used_up = a_loop(*chain, status="stopped", constraints=Constraints(max_iterations=3))
    used_up.control = replace(used_up.control, iteration=3)
    write_loop(project, used_up)
    ran = aot("run", "--dry-run")
    assert ran.code == 5
    assert ran.out.endswith(
        "iterations     1 after 3, of 3 allowed\n✘ the run would end with: limit: 3 iterations, as many as allowed\n"
    )
    assert ran.err == "Next: set max_iterations to 4 in .claude/aot-loop-state.md  ·  aot gate\n"
    assert aot("run", "--dry-run", "--max-iterations", "4").code == 0
    write_loop(project, a_loop(worn_out("A1"), status="stopped", constraints=LIMITS))
    ran = aot("run", "--dry-run")
    assert ran.code == 4
    assert "the run would end with: exhausted: every attempt and every alternative has failed for A1" in ran.out
    assert ran.err == "Next: aot status  ·  aot atom list\n"


def test_a_completed_loop_has_nothing_to_do_and_a_resolved_one_only_to_be_verified(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), status="completed"))
    ran = aot("run", "--dry-run")
    assert (ran.code, ran.out) == (0, "✔ nothing to do: the base case is verified\n")
    write_loop(project, a_loop(atom("A1", status="resolved"), status="stopped"))
    ran = aot("run", "--dry-run")
    assert (ran.code, ran.out) == (0, "✔ all atoms are done; only the base case has to be verified\n")
    assert ran.err == "Next: aot verify\n"


def test_a_long_plan_is_shortened_but_not_as_json(project: Path) -> None:
    atoms = (atom(f"A{number}", *([f"A{number - 3}"] if number > 3 else [])) for number in range(1, 301))
    write_loop(project, a_loop(*atoms, status="pending"))
    ran = aot("run", "--dry-run", "--max-iterations", "1000")
    assert len(ran.out.splitlines()) < 50
    assert "265 more; --json has them all" in ran.out
    assert "  A300  do A300\n" in ran.out
    assert "A1 → A4 → A7 → A10 → A13 → A16 → … 93 more … → A298: 100 atoms" in ran.out
    assert len(aot("run", "--dry-run", "--max-iterations", "1000", "--json").json["attempts"]) == 300


def test_a_dry_run_leaves_the_file_as_it_is(project: Path) -> None:
    path = write_loop(
        project, a_loop(atom("A1", status="in_progress"), atom("A2"), status="running", command="touch x")
    )
    before = path.read_bytes()
    assert aot("run", "--dry-run").code == 0
    assert path.read_bytes() == before
    assert not (project / "x").exists()


def test_mistakes_in_the_file_are_told_instead_of_a_plan(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", "A9", "A8")))
    ran = aot("run", "--dry-run")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.startswith(f"aot: {path}: atoms[0].depends_on")
    assert ", and 1 more error\n     `aot validate` says where.\n" in ran.err
    assert aot("run", "--dry-run", "--state-file", str(project / "none.md")).code == 3


def test_numbers_below_one_are_a_mistake_in_usage(project: Path) -> None:
    write_loop(project, SMALL)
    for option in ("--max-parallel", "--max-iterations", "--max-total-attempts"):
        assert aot("run", "--dry-run", option, "0").code == 2


def test_the_effort_of_a_plan_can_be_said(project: Path) -> None:
    write_loop(project, SMALL)
    for words, most in ((["--effort", "low"], 12), (["--effort", "high"], 90), (["--max-total-attempts", "7"], 7)):
        assert aot("run", "--dry-run", "--json", *words).json["attempts_left_at_most"] == most
    assert aot("run", "--dry-run", "--effort", "endless").code == 2


def test_it_fits_a_narrow_terminal_and_has_colours_only_there(project: Path) -> None:
    atoms = [
        atom(f"A{number}", *([f"A{number - 1}"] if number > 1 else []), description=LONG) for number in range(1, 9)
    ]
    write_loop(project, a_loop(*atoms, status="pending"))
    _, screen = on_terminal("run", "--dry-run", columns=60)
    assert max(map(cell_len, screen.text.splitlines())) <= 60, screen.text
    assert "\x1b" in screen.shown
    assert "\x1b" not in on_terminal("run", "--dry-run", environ={"NO_COLOR": "1"})[1].shown
    piped = spawn("run", "--dry-run")
    assert "\x1b" not in piped.out + piped.err


def test_nothing_in_a_file_can_steer_the_terminal(project: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[8m\u202e"
    write_loop(project, a_loop(atom(f"A1{evil}", description=f"do{evil}", attempts=2), atom(f"A2{evil}")))
    _, screen = on_terminal("run", "--dry-run")
    assert [one for one in screen.text if not one.isprintable() and one != "\n"] == []
