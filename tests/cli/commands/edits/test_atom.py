"""`aot atom start | resolve | fail`: what becomes of atoms, and what is to be done next."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import Atom, AtomCheck, Binding, Constraints, Decomposition
from aotloop.statefile.store import Store
from tests.cli.repairs import LIMITS, worn_out
from tests.cli.terminal import aot, spawn, terminal
from tests.loops import a_loop, atom, write_loop


def checked(command: str) -> AtomCheck:
    return AtomCheck(type="command", value=command)


def atoms_of(path: Path) -> dict[str, Atom]:
    return {one.id: one for one in Store(str(path)).load().atoms}


# --- start -------------------------------------------------------------------------------------------------------


def test_an_atom_that_is_ready_can_be_started(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    ran = aot("atom", "start", "A1")
    assert (ran.code, ran.out) == (0, "✔ A1 is in progress\n")
    assert ran.err == 'Next: aot atom resolve A1 --summary "…"  ·  aot atom fail A1 --reason "…"\n'
    assert atoms_of(path)["A1"].status == "in_progress"


def test_an_atom_that_waits_cannot_be_started(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    before = path.read_bytes()
    ran = aot("atom", "start", "A2", "--json")
    assert ran.code == 1
    assert "A2 waits for A1" in ran.json["error"]
    assert path.read_bytes() == before


# --- resolve -----------------------------------------------------------------------------------------------------


def test_a_resolved_atom_keeps_what_was_achieved_and_frees_what_waited(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress"), atom("A2", "A1"), atom("A3", "A2")))
    ran = aot("atom", "resolve", "A1", "--summary", "a: parser", "--artifact", "a.py", "--artifact", "b.py")
    assert (ran.code, ran.out) == (0, "✔ A1 is resolved\n")
    assert ran.err == "Next: aot atom start A2\n"
    assert Store(str(path)).load().bindings["A1"] == Binding(summary="a: parser", artifacts=("a.py", "b.py"))


def test_after_the_last_atom_the_base_case_is_next(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="in_progress")))
    assert aot("atom", "resolve", "A1").err == "Next: aot verify\n"


def test_the_last_child_resolves_its_parent(project: Path) -> None:
    split = Decomposition(parent="A1", children=("A2", "A3"), reason="large")
    loop = a_loop(atom("A1"), atom("A2", status="resolved"), atom("A3", status="in_progress"), decompositions=[split])
    write_loop(project, loop)
    assert aot("atom", "resolve", "A3", "--json").json["auto_resolved"] == ["A1"]


def test_the_check_of_an_atom_has_to_pass(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress", check=checked("test -f made.txt"))))
    refused = aot("atom", "resolve", "A1", "--yes")
    assert refused.code == 1
    assert "A1 does not pass its check" in refused.err
    assert atoms_of(path)["A1"].status == "in_progress"
    (project / "made.txt").touch()
    assert aot("atom", "resolve", "A1").code == 0
    assert atoms_of(path)["A1"].status == "resolved"


def test_the_check_of_an_atom_is_not_run_without_consent(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress", check=checked("touch ran.txt"))))
    ran = spawn("atom", "resolve", "A1")
    assert ran.code == 1
    assert "$ touch ran.txt" in ran.err
    assert "--yes" in ran.err
    assert not (project / "ran.txt").exists()
    assert atoms_of(path)["A1"].status == "in_progress"


def test_the_check_of_a_parent_is_not_run_without_consent(project: Path) -> None:
    split = Decomposition(parent="A1", children=("A2",), reason="large")
    parent = atom("A1", check=checked("touch ran.txt"))
    write_loop(project, a_loop(parent, atom("A2", status="in_progress"), decompositions=[split]))
    assert spawn("atom", "resolve", "A2").code == 1
    assert not (project / "ran.txt").exists()
    with terminal("atom", "resolve", "A2") as screen:
        screen.wait_for("[y/N]")
        screen.type("y\n")
        assert screen.end() == 0
    assert (project / "ran.txt").exists()
    assert "A2 is resolved; A1 with it" in screen.text


def test_nobody_is_asked_where_nothing_would_be_run(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="in_progress"), atom("A2", check=checked("true"))))
    ran = spawn("atom", "resolve", "A1")
    assert ran.code == 0
    assert "$" not in ran.err


# --- fail --------------------------------------------------------------------------------------------------------


def test_a_failed_atom_is_tried_again(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress")))
    ran = aot("atom", "fail", "A1", "--reason", "no luck")
    assert (ran.code, ran.out) == (0, "✔ A1 failed once, and will be tried again\n")
    assert ran.err == "Next: aot atom start A1\n"
    assert [entry.reason for entry in Store(str(path)).load().trail] == ["no luck"]


def test_when_attempts_are_used_up_another_choice_takes_over(project: Path) -> None:
    choices = [atom("A1", status="in_progress", or_group="way"), atom("A2", or_group="way")]
    write_loop(project, a_loop(*choices, constraints=Constraints(max_attempts=1)))
    ran = aot("atom", "fail", "A1", "--reason", "no luck", "--json")
    assert ran.json == {"success": True, "atom_id": "A1", "next": "backtrack"}
    assert aot("status", "--json").json["executable_atoms"] == ["A2"]


def test_an_atom_without_alternatives_is_tried_again_after_its_turn(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="in_progress", attempts=1, failures=7)))
    ran = aot("atom", "fail", "A1", "--reason", "no luck")
    assert (ran.code, ran.out) == (0, "✔ A1 failed 8 times, and will be tried again\n")
    assert ran.err == "Next: aot atom start A1\n"


def test_of_a_choice_the_failures_of_its_turn_are_told(project: Path) -> None:
    choices = [atom("A1", status="in_progress", or_group="way", failures=4), atom("A2", or_group="way", failures=9)]
    write_loop(project, a_loop(*choices))
    ran = aot("atom", "fail", "A1", "--reason", "no luck")
    assert ran.out == "✔ A1 failed 1 of 2 in this turn, 5 in all, and will be tried again\n"


def test_a_whole_that_fails_its_check_gets_one_more_part(project: Path) -> None:
    parts = [Decomposition(parent="A1", children=("A2",), reason="parts")]
    write_loop(project, a_loop(atom("A1"), atom("A2", status="resolved"), decompositions=parts))
    ran = aot("atom", "fail", "A1", "--reason", "they do not fit")
    assert (ran.code, ran.out) == (0, "✔ A1 has failed; A3 will repair it\n")
    assert aot("status", "--json").json["executable_atoms"] == ["A3"]


def test_when_nothing_is_left_it_says_so(project: Path) -> None:
    write_loop(project, a_loop(worn_out("A1", left=1, status="in_progress"), constraints=LIMITS))
    ran = aot("atom", "fail", "A1", "--reason", "no luck")
    assert "nothing more can be tried" in ran.out
    assert "aot log A1" in ran.err
