"""How an earlier tool of this kind failed; each of its failures, by name, as a test that ours does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem, Decomposition
from aotloop.statefile.reader import decode, examine
from tests.checks.proofs import has_ended
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.patience import FOREVER, with_time_enough
from tests.scripts.calling import call


def checklist(*items: ChecklistItem) -> BaseCase:
    return BaseCase(checklist=items)


def item(name: str, kind: str, value: str) -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))  # type: ignore[arg-type]


# --- reading and writing by pattern ------------------------------------------------------------------------------


def test_inline_comments_do_not_become_values(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text().replace("status: running", "status: running   # or stopped"))
    assert call("read_state")["status"] == "running"


@pytest.mark.parametrize("indent", [0, 2, 4, 7])
def test_lists_of_any_indentation_hold_atoms(project: Path, indent: int) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    before, _, rest = path.read_text().partition("atoms:\n")
    entry, _, after = rest.partition("decompositions:")
    lines = "".join(" " * indent + line[2:] + "\n" for line in entry.splitlines())
    path.write_text(f"{before}atoms:\n{lines}decompositions:{after}")
    assert call("read_state")["executable_atoms"] == ["A1"]
    assert call("update_atom", "A1", "in_progress")["success"] is True


def test_a_status_line_in_the_markdown_body_is_not_a_status(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text() + "\nstatus: pending\ncontrol:\n  status: completed\n")
    call("set_status", "stopped", "--reason", "enough")
    assert path.read_text().endswith("\nstatus: pending\ncontrol:\n  status: completed\n")
    assert call("read_state")["status"] == "stopped"


def test_quotes_in_a_summary_leave_a_valid_file(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="resolved")))
    call("add_binding", "A1", "--summary", "said \"done\": 'yes' # really")
    assert call("validate_state")["valid"] is True
    assert decode(path.read_bytes()).bindings["A1"].summary == "said \"done\": 'yes' # really"


def test_a_field_is_data_and_is_never_executed(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text().replace("iteration: 0", 'iteration: "a[$(touch pwned)]"'))
    for script in ("read_state", "validate_state", "check_gate"):
        told = call(script, code=1)
        assert "expected a whole number" in str(told)
    assert not (project / "pwned").exists()


# --- concurrency: see tests/scripts/test_concurrency.py ----------------------------------------------------------


# --- the graph ---------------------------------------------------------------------------------------------------


def test_a_decomposed_parent_is_neither_offered_nor_left_behind(project: Path) -> None:
    split = [Decomposition(parent="A1", children=("A2",), reason="r")]
    write_loop(project, a_loop(atom("A1"), atom("A2"), decompositions=split))
    assert call("read_state")["executable_atoms"] == ["A2"]
    assert "was decomposed" in call("update_atom", "A1", "in_progress", code=1)["error"]
    call("update_atom", "A2", "in_progress")
    assert call("update_atom", "A2", "resolved")["auto_resolved"] == ["A1"]


def test_only_the_selected_alternative_is_executable(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", or_group="g"), atom("A2", or_group="g")))
    assert call("read_state")["executable_atoms"] == ["A1"]
    assert "has selected A1, not A2" in call("update_atom", "A2", "in_progress", code=1)["error"]


def test_switching_a_branch_updates_failed_and_bindings(project: Path) -> None:
    path = write_loop(
        project,
        a_loop(
            atom("A1", or_group="g", status="resolved"),
            atom("A2", or_group="g"),
            atom("A3", "A1", status="resolved"),
            atom("A4", status="resolved"),
        ),
    )
    call("switch_or_branch", "g", "A2", "--reason", "the first way is closed")
    loop = decode(path.read_bytes())
    assert (loop.or_groups["g"].selected, loop.or_groups["g"].failed) == ("A2", ("A1",))
    assert list(loop.bindings) == ["A4"]
    assert [one.status for one in loop.atoms] == ["pending", "pending", "pending", "resolved"]
    assert call("read_state")["executable_atoms"] == ["A2"]


def test_a_group_that_does_not_exist_cannot_be_switched(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert call("switch_or_branch", "nope", "A1", "--reason", "r", code=1)["success"] is False


# --- checks ------------------------------------------------------------------------------------------------------


def test_an_assertion_is_known_and_waits_for_a_judgement(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), base_case=BaseCase(type="assertion", value="it feels right")))
    told = call("verify_checklist", code=1)
    assert (told["passed"], told["undecided"], len(told["skipped"])) == (False, True, 1)


def test_a_checklist_of_judged_items_only_does_not_pass(project: Path) -> None:
    judged = ChecklistItem(item="q", check=Check(type="quality", criteria="good", pass_threshold=3.0))
    write_loop(project, a_loop(atom("A1"), base_case=checklist(judged)))
    assert call("verify_checklist", code=1)["passed"] is False
    assert "does not hold" in call("set_status", "completed", code=1)["error"]


@pytest.mark.parametrize(
    "empty", ["checklist: []", "checklist: [{item: a, group: []}]", "checklist: [{item: a, any_of: []}]"]
)
def test_an_empty_checklist_does_not_pass(project: Path, empty: str) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    path.write_text(
        path.read_text()
        .replace('type: command\n    value: "true"', empty)
        .replace("type: command\n    value: 'true'", empty)
    )
    assert "checklist" in path.read_text()
    assert call("verify_checklist", code=1)["passed"] is False
    assert any("is empty" in one for one in call("validate_state", code=1)["errors"])
    assert call("check_gate", code=1)["ready"] is False


def test_a_nested_judged_item_does_not_vanish(project: Path) -> None:
    inner = ChecklistItem(
        item="deep", group=(item("right", "assertion", "it is right"), item("runs", "command", "true"))
    )
    write_accepted(project, a_loop(atom("A1"), base_case=checklist(ChecklistItem(item="top", group=(inner,)))))
    told = call("verify_checklist", code=1)
    assert told["undecided"] is True
    assert [one["item"] for one in told["skipped"]] == ["top / deep / right"]


def test_a_command_that_does_not_exist_proves_nothing(project: Path) -> None:
    write_accepted(project, a_loop(atom("A1"), base_case=checklist(item("clean", "not_command", "no-such-linter src"))))
    assert call("verify_checklist", code=1)["passed"] is False
    assert call("verify_command", "no-such-linter", "--expect-fail", code=1)["exit_code"] == 127


def test_grandchildren_do_not_survive_a_time_out(project: Path) -> None:
    pids = project / "pids"
    commands = f"(sleep {FOREVER}; true) & echo $! > {pids}; (sleep {FOREVER} & echo $! >> {pids}); sleep {FOREVER}"

    def hung(limit: float) -> None:
        call("verify_command", commands, "--timeout", str(limit), code=1)

    with_time_enough(hung, lambda _: pids.exists() and len(pids.read_text().split()) == 2)
    assert all(has_ended(int(pid)) for pid in pids.read_text().split())


# --- completion --------------------------------------------------------------------------------------------------


def test_completed_cannot_be_set_with_nothing_verified(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="resolved"), command="exit 1"))
    assert call("set_status", "completed", code=1)["success"] is False
    assert decode(path.read_bytes()).control.status == "running"


def test_a_loop_that_says_it_is_completed_without_a_verdict_is_doubted(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="resolved"), status="completed"))
    assert any("no verdict" in one.message for one in examine(path.read_bytes()).warnings)


@pytest.mark.parametrize("goal", ["", " ", "\\n"])
def test_the_gate_does_not_accept_an_empty_goal(project: Path, goal: str) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    path.write_text(path.read_text().replace('goal: "It works"', f'goal: "{goal}"'))
    assert "objective.goal" in call("check_gate", code=1)["missing"]


def test_a_check_the_wrong_way_round_is_noticed_before_the_work(project: Path) -> None:
    """`audit` exits with 0 when all is well, so `not_command` demands that something is wrong; the gate names it.

    How the command line tells it is tested with the gate; here, that what it tells from is right.
    """
    write_accepted(project, a_loop(atom("A1"), base_case=checklist(item("No holes", "not_command", "true"))))
    told = call("verify_checklist", code=1)
    assert told["checklist"][0]["passed"] is False
    assert "exit 0" in told["checklist"][0]["evidence"]


def test_an_atoms_check_is_not_a_matter_of_opinion(project: Path) -> None:
    check = AtomCheck(any_of=(item("a", "file", "a.txt"), item("b", "file", "b.txt")))
    write_loop(project, a_loop(atom("A1", status="in_progress", check=check)))
    assert call("update_atom", "A1", "resolved", code=1)["success"] is False
    (project / "b.txt").write_text("x")
    assert call("update_atom", "A1", "resolved")["success"] is True
