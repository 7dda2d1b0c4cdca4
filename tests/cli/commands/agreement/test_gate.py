"""`aot gate` says whether the loop may start, and what of its base case holds before any work."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints
from tests.cli.terminal import aot, spawn, terminal
from tests.loops import a_loop, atom, write_loop


def item(name: str, kind: str, value: str) -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))  # type: ignore[arg-type]


def checklist(*items: ChecklistItem) -> BaseCase:
    return BaseCase(checklist=items)


def test_a_base_case_that_fails_before_the_work_is_as_it_should_be(project: Path) -> None:
    (project / "aot.toml").write_text('isolation = "none"\n')
    write_loop(project, a_loop(atom("A1", run="touch done.txt"), status="pending", command="test -f done.txt"))
    ran = aot("gate", "--yes")
    assert ran.code == 0
    assert ran.out == "✔ ready to start (status: pending)\n  The base case fails now, as it should before the work.\n"
    assert "Next: aot run" in ran.err


def test_what_a_run_would_refuse_is_said_by_the_gate(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", command="test -f done.txt"))
    warnings = aot("gate", "--yes", "--json").json["warnings"]
    assert any("is not in a git repository" in one and "`aot run --in-place`" in one for one in warnings)
    assert any("there is no agent to do: A1" in one for one in warnings)


def test_the_gate_does_not_say_ready_to_start_where_a_run_would_refuse(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", run="true"), status="pending", command="test -f done.txt"))
    ran = aot("gate", "--yes")
    assert ran.code == 0
    first, second, *_ = ran.out.splitlines()
    assert first == "✔ the objective is ready, but `aot run` needs this first (status: pending):"
    assert "is not in a git repository" in second
    assert aot("run", "--yes").code == 3


def test_a_command_that_cannot_run_does_not_fail_as_it_should(project: Path) -> None:
    missing = checklist(
        item("tests", "command", "pyhton -m pytest"), item("lint", "command", "python3 -m no_such_module")
    )
    write_loop(project, a_loop(atom("A1"), status="pending", base_case=missing))
    ran = aot("gate", "--yes")
    assert "as it should" not in ran.out
    assert "• tests: exit 127" in ran.out
    assert "• lint: exit 1" in ran.out


def test_an_item_that_already_holds_is_named(project: Path) -> None:
    base_case = checklist(item("tests pass", "command", "false"), item("it compiles", "command", "true"))
    write_loop(project, a_loop(atom("A1"), status="pending", base_case=base_case))
    ran = aot("gate", "--yes")
    assert "• it compiles: already holds; it may prove nothing" in ran.out
    assert "tests pass" not in ran.out
    assert aot("gate", "--json").json["already_holding"] == ["it compiles: already holds; it may prove nothing"]


def test_an_inverted_item_that_already_holds_may_be_the_wrong_way_round(project: Path) -> None:
    base_case = checklist(
        item("no debug output", "not_command", "grep -q debug code.py"),
        item("no old code", "not_file", "old.py"),
        item("open", "command", "false"),
    )
    (project / "code.py").write_text("pass\n")
    write_loop(project, a_loop(atom("A1"), status="pending", base_case=base_case))
    lines = aot("gate", "--yes").out.splitlines()
    assert any(
        "no debug output" in line and "the check may be inverted" in line and "grep -q debug" in line for line in lines
    )
    assert any("no old code" in line and "the check may be inverted" in line for line in lines)


def test_a_base_case_that_already_holds_means_nothing_to_do(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", command="true"))
    ran = aot("gate", "--yes")
    assert ran.code == 0
    assert "already holds: there is nothing to do" in ran.out


def test_an_undecided_base_case_is_called_so(project: Path) -> None:
    base_case = checklist(item("readable", "assertion", "the code is readable"))
    write_loop(project, a_loop(atom("A1"), status="pending", base_case=base_case))
    ran = aot("gate", "--yes")
    assert ran.code == 0
    assert "undecided now; these items have to be judged: readable" in ran.out


def test_without_consent_the_static_part_is_told_and_that_nothing_was_run(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", command="touch ran.txt; false"))
    ran = spawn("gate")
    assert ran.code == 0
    assert "the objective is ready" in ran.out
    assert "The base case was not run: its commands have not been accepted; --yes accepts them." in ran.out
    assert "$ touch ran.txt; false" in ran.err
    assert not (project / "ran.txt").exists()
    as_json = spawn("gate", "--json")
    assert as_json.code == 0
    assert as_json.json["base_case"] is None
    assert "not been accepted" in as_json.json["not_run"]


def test_who_declines_at_the_terminal_still_gets_the_static_part(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", command="touch ran.txt; false"))
    with terminal("gate") as screen:
        screen.wait_for("[y/N]")
        screen.type("n\n")
        assert screen.end() == 0
    assert "the objective is ready" in screen.text
    assert "The base case was not run" in screen.text
    assert not (project / "ran.txt").exists()


def test_on_request_nothing_is_run_and_nobody_is_asked(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", command="touch ran.txt; false"))
    ran = aot("gate", "--no-run")
    assert ran.code == 0
    assert "was not run: as you asked" in ran.out
    assert "$" not in ran.err
    assert not (project / "ran.txt").exists()


def test_a_running_loop_is_not_started_again(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="running"))
    ran = aot("gate", "--yes")
    assert ran.code == 1
    assert "not ready (status: running)" in ran.out
    assert "the loop is running" in ran.out
    assert ran.err == "Next: aot status\n"


def test_errors_of_the_file_keep_the_gate_shut(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", "A9"), status="pending"))
    ran = aot("gate", "--yes")
    assert ran.code == 1
    assert "A9" in ran.out
    assert "missing: line" not in ran.out
    assert "edit .claude/aot-loop-state.md" in ran.err


def test_limits_that_contradict_each_other_and_atoms_without_a_check_are_warnings(project: Path) -> None:
    chain = [atom("A1"), atom("A2", "A1"), atom("A3", "A2")]
    write_loop(project, a_loop(*chain, status="pending", constraints=Constraints(max_total_attempts=2)))
    ran = aot("gate", "--no-run")
    assert ran.code == 0
    assert "max_total_attempts: 3 atoms need one attempt each; of 2 attempts 2 are left" in ran.out
    assert "atoms: 3 atoms have no check (A1, A2, A3); let `covers` name the items" in ran.out


def test_a_missing_file_is_told_with_the_way_to_make_one(project: Path) -> None:
    ran = aot("gate", "--state-file", str(project / "none.md"))
    assert ran.code == 1
    assert ran.out == "✘ not ready\n  • missing: state file\n"
    assert ran.err.startswith("Next: aot align")


def test_looking_changes_nothing_in_the_file(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending", command="false"))
    before = path.read_bytes()
    assert aot("gate", "--yes").code == 0
    assert path.read_bytes() == before
