"""Every script: its arguments, its keys, what it refuses."""

from __future__ import annotations

import json
import os
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import (
    AtomCheck,
    BaseCase,
    Binding,
    Check,
    ChecklistItem,
    Constraints,
    Decomposition,
    Loop,
    TrailEntry,
)
from aotloop.core.policy import turns
from aotloop.core.policy.turns import patience
from aotloop.scripts.run import MODULES
from aotloop.statefile.reader import decode
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.scripts.calling import SCRIPTS, call


def state(project: Path) -> Loop:
    return decode((project / ".claude" / "aot-loop-state.md").read_bytes())


def test_every_shim_has_its_script_and_every_script_its_shim() -> None:
    assert set(SCRIPTS) == set(MODULES)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_script_explains_itself_and_takes_a_state_file(name: str, project: Path) -> None:
    assert project.exists()
    told = call(name, "--help")
    assert told["usage"].startswith(f"{name}.py")
    assert "--state-file" in told["usage"]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_an_unknown_option_is_a_usage_error(name: str, project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    told = call(name, "--no-such-option", code=2)
    assert told["success"] is False
    assert "--no-such-option" in told["error"]


# --- read_state --------------------------------------------------------------------------------------------------


def test_read_state_tells_everything_about_the_loop(project: Path) -> None:
    write_loop(
        project,
        a_loop(
            atom("A1", status="resolved"),
            atom("A2", "A1"),
            atom("A3", "A1", estimate=5.0),
            atom("A4", "A2"),
            atom("B1", or_group="g"),
            atom("B2", or_group="g"),
        ),
    )
    told = call("read_state")
    assert list(told) == [
        "exists", "status", "iteration", "stall_count", "prev_pending_count", "stop_requested", "stop_reason",
        "redirect_requested", "session_id", "cost_usd", "used", "verdict", "objective", "atoms", "bindings",
        "or_groups", "decompositions", "trail", "corrections", "executable_atoms", "start_now", "start_now_in_place",
        "limits", "attempts_left", "turn", "turns", "summary",
    ]  # fmt: skip
    assert told["executable_atoms"] == ["A3", "A2", "B1"]
    assert told["summary"] == {"total": 6, "pending": 5, "in_progress": 0, "resolved": 1, "executable": 3}
    assert told["bindings"] == {"A1": {"summary": "did A1", "artifacts": []}}
    assert told["or_groups"] == {"g": {"choices": ["B1", "B2"], "selected": "B1", "failed": []}}


def test_read_state_says_who_drives_the_loop_and_what_to_start_now(project: Path) -> None:
    loop = a_loop(
        atom("A1", touches=("src/**",)), atom("A2", touches=("src/a.py",)), atom("A3"), atom("A4", touches=("docs/**",))
    )
    loop.control = replace(loop.control, session_id="s1", cost_usd=0.5)
    write_loop(project, loop)
    told = call("read_state")
    assert (told["session_id"], told["cost_usd"], told["verdict"]) == ("s1", 0.5, None)
    assert told["executable_atoms"] == ["A1", "A2", "A3", "A4"]
    assert told["start_now"] == ["A1", "A3", "A4"]
    assert told["start_now_in_place"] == ["A1", "A4"]


def test_read_state_tells_limits_turns_and_what_is_left(project: Path) -> None:
    loop = a_loop(atom("A1", or_group="g", attempts=1, failures=3), atom("A2", or_group="g"), atom("A3"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], round=2)
    loop.control = replace(loop.control, tried=4)
    write_loop(project, loop)
    told = call("read_state")
    assert (told["attempts_left"], told["turn"]) == (26, 2)
    assert told["turns"] == {"g": {"selected": "A1", "failures_left": 1, "next": "A2", "round": 2}}
    limits = told["limits"]
    assert (limits["max_iterations"], limits["max_stall_count"], limits["max_attempts"]) == (20, 3, 2)


def test_read_state_without_a_file_says_so(project: Path) -> None:
    assert project.exists()
    told = call("read_state")
    assert told["exists"] is False
    assert told["status"] is None


def test_read_state_lists_all_that_can_start_not_only_what_fits_the_slots(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}") for number in range(1, 10))))
    assert len(call("read_state")["executable_atoms"]) == 9


def test_a_broken_file_is_an_error_with_its_place(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text().replace("atoms:", "atoms: ["))
    told = call("read_state", code=1)
    assert told["success"] is False
    assert "line " in told["error"]


# --- update_atom, add_binding ------------------------------------------------------------------------------------


def test_update_atom_walks_an_atom_to_its_end(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    told = call("update_atom", "A1", "in_progress")
    assert len(told.pop("token")) == 12
    assert told == {"success": True, "atom_id": "A1", "status": "in_progress", "auto_resolved": []}  # fmt: skip
    assert call("update_atom", "A1", "resolved")["status"] == "resolved"
    assert call("add_binding", "A1", "--summary", "it's done", "--artifacts", "a.py, b.py") == {
        "success": True, "atom_id": "A1", "artifacts_count": 2
    }  # fmt: skip
    loop = state(project)
    assert loop.atoms[0].status == "resolved"
    assert loop.bindings["A1"] == Binding(summary="it's done", artifacts=("a.py", "b.py"))


@pytest.mark.parametrize(
    ("status", "wanted", "why"),
    [
        ("pending", "resolved", "A1 is pending; it allows: abandon, start"),
        ("resolved", "in_progress", "A1 is resolved"),
        ("resolved", "pending", "A1 is resolved"),
    ],
)
def test_a_step_that_is_not_allowed_is_refused(project: Path, status: str, wanted: str, why: str) -> None:
    path = write_loop(project, a_loop(atom("A1", status=status)))
    before = path.read_bytes()
    assert why in call("update_atom", "A1", wanted, code=1)["error"]
    assert path.read_bytes() == before


def test_setting_what_is_already_set_changes_nothing(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress")))
    before = path.read_bytes()
    assert call("update_atom", "A1", "in_progress")["success"] is True
    assert path.read_bytes() == before


def test_abandoning_an_atom_counts_no_attempt(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="in_progress")))
    assert call("update_atom", "A1", "pending")["success"] is True
    assert (state(project).atoms[0].status, state(project).atoms[0].attempts) == ("pending", 0)


def test_an_atom_that_waits_cannot_be_started(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    assert "A2 waits for A1" in call("update_atom", "A2", "in_progress", code=1)["error"]


def test_an_unknown_atom_is_named_and_the_known_ones_too(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    error = call("update_atom", "A9", "in_progress", code=1)["error"]
    assert "there is no atom A9" in error
    assert "A1" in error


def test_an_unknown_status_is_a_usage_error(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert "pending, in_progress, resolved" in call("update_atom", "A1", "done", code=2)["error"]


def test_resolving_the_last_child_resolves_the_parent(project: Path) -> None:
    loop = a_loop(
        atom("A1"),
        atom("A2", status="resolved"),
        atom("A3", status="in_progress"),
        decompositions=[Decomposition(parent="A1", children=("A2", "A3"), reason="r")],
    )
    write_loop(project, loop)
    assert call("update_atom", "A3", "resolved")["auto_resolved"] == ["A1"]
    after = state(project)
    assert after.atoms[0].status == "resolved"
    assert "A2, A3" in after.bindings["A1"].summary


def test_an_atoms_own_check_decides_whether_it_is_resolved(project: Path) -> None:
    check = AtomCheck(type="file", value="made.txt")
    write_loop(project, a_loop(atom("A1", status="in_progress", check=check)))
    error = call("update_atom", "A1", "resolved", code=1)["error"]
    assert "does not pass its check" in error
    assert state(project).atoms[0].status == "in_progress"
    (project / "made.txt").write_text("x")
    assert call("update_atom", "A1", "resolved")["success"] is True


def test_a_parents_own_check_decides_too(project: Path) -> None:
    loop = a_loop(
        atom("A1", check=AtomCheck(type="file", value="whole.txt")),
        atom("A2", status="in_progress"),
        decompositions=[Decomposition(parent="A1", children=("A2",), reason="r")],
    )
    write_loop(project, loop)
    told = call("update_atom", "A2", "resolved")
    assert told["auto_resolved"] == []
    assert "whole.txt" in told["unverified"]["A1"]
    assert [one.status for one in state(project).atoms] == ["pending", "resolved"]
    (project / "whole.txt").write_text("x")
    assert call("update_atom", "A1", "resolved")["success"] is True
    assert state(project).atoms[0].status == "resolved"


def test_work_that_was_not_begun_has_no_binding(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert "pending" in call("add_binding", "A1", "--summary", "x", code=1)["error"]


def test_a_summary_is_required(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved")))
    assert "--summary is missing" in call("add_binding", "A1", code=2)["error"]


def test_hostile_texts_are_kept_as_they_are(project: Path) -> None:
    summary = "$(touch pwned) `touch pwned` '\"\n---\n# x\ncontrol: {status: completed}\n日本 😀"
    write_loop(project, a_loop(atom("A1", status="resolved")))
    call("add_binding", "A1", "--summary", summary, "--artifacts", "a b,-x,$HOME")
    assert state(project).bindings["A1"] == Binding(summary=summary, artifacts=("a b", "-x", "$HOME"))
    assert not (project / "pwned").exists()


def test_bytes_that_are_not_utf8_do_not_reach_the_file(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved")))
    call("add_binding", "A1", "--summary", os.fsdecode(b"caf\xe9"))
    assert state(project).bindings["A1"].summary == "caf\ufffd"


# --- set_status --------------------------------------------------------------------------------------------------


def test_the_loop_starts_through_the_gate(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    assert call("set_status", "running") == {"success": True, "status": "running", "reason": None}


def test_a_loop_that_is_not_agreed_on_does_not_start(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="pending"))
    path.write_text(path.read_text().replace('goal: "It works"', 'goal: " "'))
    assert "objective.goal" in call("set_status", "running", code=1)["error"]
    assert state(project).control.status == "pending"


def test_starting_again_clears_the_stop_request(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    call("request_stop", "--reason", "lunch")
    assert (state(project).control.stop_requested, state(project).control.stop_reason) == (True, "lunch")
    call("set_status", "stopped")
    assert state(project).control.stop_reason == "lunch"
    call("set_status", "running")
    assert (state(project).control.stop_requested, state(project).control.stop_reason) == (False, None)


def test_completion_runs_the_base_case(project: Path) -> None:
    write_accepted(project, a_loop(atom("A1", status="resolved"), command="test -f done.txt"))
    error = call("set_status", "completed", code=1)["error"]
    assert "the base case does not hold" in error
    assert state(project).control.status == "running"
    (project / "done.txt").write_text("x")
    assert call("set_status", "completed")["success"] is True
    control = state(project).control
    assert control.status == "completed"
    assert control.verdict is not None
    assert control.verdict.passed


@pytest.mark.parametrize(
    ("status", "wanted"), [("pending", "stopped"), ("pending", "completed"), ("completed", "running")]
)
def test_a_status_that_cannot_follow_is_refused(project: Path, status: str, wanted: str) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), status=status))
    assert call("set_status", wanted, code=1)["success"] is False
    assert state(project).control.status == status


# --- checks ------------------------------------------------------------------------------------------------------


def test_verify_command_tells_how_it_went(project: Path) -> None:
    assert project.exists()
    told = call("verify_command", "echo out; exit 3", code=1)
    assert list(told) == ["passed", "type", "command", "exit_code", "evidence", "output_summary"]
    assert (told["passed"], told["type"], told["exit_code"]) == (False, "command", 3)
    assert "out" in told["output_summary"]
    assert call("verify_command", "exit 3", "--expect-fail")["type"] == "not_command"


def test_verify_command_gives_up_in_time(project: Path) -> None:
    assert project.exists()
    assert "0.3" in call("verify_command", "sleep 3600", "--timeout", "0.3", code=1)["evidence"]


def test_verify_file_tells_what_it_found(project: Path) -> None:
    (project / "dist").mkdir()
    (project / "dist" / "a.map").write_text("")
    told = call("verify_file", "dist/*.map")
    assert list(told) == ["passed", "type", "path", "exists", "evidence"]
    assert call("verify_file", "dist/*.map", "--expect-missing", code=1)["exists"] is True
    assert call("verify_file", "exists: ./dist")["passed"] is True


def test_verify_checklist_reports_every_item_and_what_waits_for_a_judge(project: Path) -> None:
    items = (
        ChecklistItem(item="runs", check=Check(type="command", value="true")),
        ChecklistItem(item="reads well", check=Check(type="quality", criteria="clear", pass_threshold=3.0)),
    )
    write_accepted(project, a_loop(atom("A1"), base_case=BaseCase(checklist=items)))
    told = call("verify_checklist", code=1)
    assert list(told) == ["passed", "undecided", "checklist", "skipped"]
    assert (told["passed"], told["undecided"]) == (False, True)
    assert [one["item"] for one in told["checklist"]] == ["runs", "reads well"]
    assert [one["item"] for one in told["skipped"]] == ["reads well"]
    verdict = state(project).control.verdict
    assert verdict is not None
    assert (verdict.passed, verdict.undecided) == (False, True)


def test_the_verdict_remembers_the_fewest_failing_items(project: Path) -> None:
    items = tuple(ChecklistItem(item=name, check=Check(type="file", value=name)) for name in ("a.txt", "b.txt"))
    write_loop(project, a_loop(atom("A1"), base_case=BaseCase(checklist=items)))
    (project / "a.txt").write_text("x")
    call("verify_checklist", code=1)
    (project / "a.txt").unlink()
    call("verify_checklist", code=1)
    verdict = state(project).control.verdict
    assert verdict is not None
    assert (verdict.failing, verdict.fewest_failing) == (("a.txt", "b.txt"), 1)


def test_validate_state_and_check_gate_tell_apart_errors_and_warnings(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", "A9"), atom("A2", status="resolved"), status="pending", bindings={}))
    told = call("validate_state", code=1)
    assert list(told) == ["valid", "errors", "warnings", "atom_count"]
    assert (told["valid"], told["atom_count"]) == (False, 2)
    assert any("there is no atom A9" in one for one in told["errors"])
    assert any("A2 is resolved but has no binding" in one for one in told["warnings"])
    gate = call("check_gate", code=1)
    assert list(gate) == ["ready", "missing", "status", "warnings"]
    assert (gate["ready"], gate["status"]) == (False, "pending")


def test_a_ready_loop_passes_the_gate(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending"))
    assert call("check_gate") == {"ready": True, "missing": [], "status": "pending", "warnings": []}
    assert call("validate_state")["valid"] is True


def test_without_a_file_gate_and_validation_say_so(project: Path) -> None:
    assert project.exists()
    assert call("check_gate", code=1)["missing"] == ["state file"]
    assert call("validate_state", code=1)["valid"] is False


# --- the graph ---------------------------------------------------------------------------------------------------


def test_atoms_are_added_decomposed_switched_and_failed(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved")))
    call("add_atom", "A2", "--description", "one way", "--depends-on", "A1", "--or-group", "way")
    call("add_atom", "A3", "--description", "another", "--depends-on", "A1", "--or-group", "way")
    told = call("decompose_atom", "A3", "--children", "A4,A5", "--descriptions", "x|||y, z", "--reason", "large")
    assert told == {"success": True, "parent": "A3", "children": ["A4", "A5"], "reason": "large"}
    call("update_atom", "A2", "in_progress")
    told = call("switch_or_branch", "way", "A3", "--reason", "dead end")
    assert told == {
        "success": True, "or_group": "way", "left": "A2", "selected": "A3", "reset": ["A2"], "undone": [], "round": 0
    }  # fmt: skip
    loop = state(project)
    assert loop.or_groups["way"].failed == ("A2",)
    assert loop.trail[-1].reason == "dead end"
    call("update_atom", "A4", "in_progress")
    told = call("fail_atom", "A4", "--reason", "no luck")
    assert (told["next"], told["attempts"], told["max_attempts"]) == ("retry", 1, 2)
    assert (told["turn"], told["failures"], told["attempts_left"]) == (2, 1, 39)
    assert state(project).trail[-1].type == "failure"


def failed(atom_id: str, *more: str) -> dict[str, Any]:
    call("update_atom", atom_id, "in_progress")
    return call("fail_atom", atom_id, "--reason", "no luck", *more)


def test_choices_take_turns_and_come_back(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", or_group="g"), atom("A2", or_group="g")))
    assert failed("A1")["next"] == "retry"
    told = failed("A1")
    assert (told["next"], told["left"], told["selected"], told["round"]) == ("switch", "A1", "A2", 0)
    assert failed("A2")["next"] == "retry"
    told = failed("A2")
    assert (told["next"], told["left"], told["selected"], told["round"]) == ("switch", "A2", "A1", 1)
    assert told["attempts_left"] == 16
    group = state(project).or_groups["g"]
    assert (group.selected, group.failed) == ("A1", ("A2",))


@pytest.mark.parametrize(("blames", "times"), [({}, 1), ({"A2": 1}, 2)])
def test_a_choice_that_is_named_as_being_in_the_way_is_left(project: Path, blames: dict[str, int], times: int) -> None:
    """At once if another choice was never blamed, else the second time."""
    ways = atom("A1", or_group="g", status="resolved"), atom("A2", or_group="g")
    loop = a_loop(*ways, atom("A3", "A1"), atom("A4"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], blames=blames)
    write_loop(project, loop)
    for _ in range(times - 1):
        assert failed("A3", "--because-of", "A1, A4")["next"] == "retry"
    told = failed("A3", "--because-of", "A1, A4")
    assert (told["next"], told["left"], told["selected"], told["undone"]) == ("switch", "A1", "A2", ["A1"])
    assert state(project).or_groups["g"].blames == {**blames, "A1": 1}


def test_work_that_holds_and_a_wish_for_a_probe_are_kept(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert failed("A1", "--progress", "--wants-probe")["next"] == "retry"
    (one,) = state(project).atoms
    assert (one.partial, one.probe) == (True, True)


def test_a_command_that_failed_has_had_its_turn(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", or_group="g", run="make"), atom("A2", or_group="g")))
    told = failed("A1")
    assert (told["next"], told["selected"], told["turn"]) == ("switch", "A2", 2)


FEW = Constraints(max_total_attempts=48)
ALIKE = ceil(turns.MOST * 48)
"""Failures in the same way after which an atom is hopeless, as it has had most of all attempts."""
PATIENT = patience(a_loop(atom("A1"), constraints=FEW))


@pytest.mark.parametrize(
    ("more", "limits", "told"),
    [
        ({}, Constraints(max_total_attempts=2), "retry"),
        ({}, Constraints(max_total_attempts=1), "limit"),
        ({"alike": ALIKE - 2, "failures": ALIKE - 2}, FEW, "retry"),
        ({"alike": ALIKE - 1, "failures": ALIKE - 1}, FEW, "blocked"),
        ({"repairs": "tests", "attempts": PATIENT - 2}, FEW, "retry"),
        ({"repairs": "tests", "attempts": PATIENT - 1}, FEW, "exhausted"),
    ],
)
def test_what_ends_a_loop_is_said_at_once_and_not_before(
    project: Path, more: dict[str, Any], limits: Constraints, told: str
) -> None:
    loop = a_loop(atom("A1", **more), constraints=limits)
    loop.trail = [TrailEntry(reason="no luck", timestamp="then", type="failure", atom="A1")]
    write_loop(project, loop)
    answer = failed("A1")
    assert answer["next"] == told
    assert ("aot redirect --retry A1" in answer.get("blocked", "")) == (told == "blocked")


def test_a_race_goes_on_without_the_one_that_has_had_its_turn(project: Path) -> None:
    loop = a_loop(atom("A1", or_group="g"), atom("A2", or_group="g", attempts=1))
    loop.or_groups["g"] = replace(loop.or_groups["g"], speculative=True)
    write_loop(project, loop)
    assert failed("A2")["next"] == "other choices"


def test_a_switch_to_a_choice_that_had_its_turn_begins_another_round(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", or_group="g"), atom("A2", or_group="g")))
    assert call("switch_or_branch", "g", "A2", "--reason", "try")["round"] == 0
    assert call("switch_or_branch", "g", "A1", "--reason", "back")["round"] == 1
    group = state(project).or_groups["g"]
    assert (group.selected, group.failed) == ("A1", ("A2",))
    assert [one.selected for one in state(project).trail] == ["A2", "A1"], "each switch is in the trail"


def test_what_a_probe_found_is_evidence_and_no_verdict(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", probe=True), atom("A2", or_group="g", probe=True), atom("A3", or_group="g")))
    call("update_atom", "A1", "in_progress")
    told = call("record_probe", "A1", "--feasible", "true", "--findings", "the hook is there", "--estimate", "12.5")
    assert (told["success"], told["next"], told["attempts_left"]) == (True, "go on", 29)
    one = state(project).atoms[0]
    assert (one.status, one.probe, one.findings, one.estimate) == ("pending", False, "the hook is there", 12.5)
    call("update_atom", "A2", "in_progress")
    told = call("record_probe", "A2", "--feasible", "false", "--findings", "no such API")
    assert (told["next"], told["left"], told["selected"]) == ("switch", "A2", "A3"), "as a turn that led nowhere"
    assert (told["failures"], state(project).trail[-2].reason) == (2, "not feasible: no such API")
    assert call("switch_or_branch", "g", "A2", "--reason", "all the same")["selected"] == "A2"
    assert "cannot be 'maybe'" in call("record_probe", "A2", "--feasible", "maybe", "--findings", "x", code=2)["error"]


def test_children_cover_items_and_ask_for_probes(project: Path) -> None:
    items = tuple(ChecklistItem(item=name, check=Check(type="file", value="x")) for name in ("it runs, fast", "docs"))
    write_loop(project, a_loop(atom("A1"), base_case=BaseCase(checklist=items)))
    words = ["--children", "A2,A3", "--descriptions", "x|||y", "--reason", "large"]
    call("decompose_atom", "A1", *words, "--covers", "A2=it runs, fast", "--probe", "A3")
    one, two = state(project).atoms[1:]
    assert (one.covers, one.probe, two.covers, two.probe) == (("it runs, fast",), False, (), True)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--covers", "docs"), "'docs' names none of A2, A3"),
        (("--covers", "A9=docs"), "'A9=docs' names none of A2, A3"),
        (("--probe", "A1"), "--probe names atoms that are not children: A1"),
    ],
)
def test_what_is_said_about_children_is_about_children(project: Path, more: tuple[str, ...], why: str) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    before = path.read_bytes()
    words = ["--children", "A2,A3", "--descriptions", "x|||y", "--reason", "large"]
    assert why in call("decompose_atom", "A1", *words, *more, code=2)["error"]
    assert path.read_bytes() == before


def test_a_switch_within_a_group_that_does_not_exist_is_refused(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert "there is no group nowhere" in call("switch_or_branch", "nowhere", "A1", "--reason", "r", code=1)["error"]


def test_children_and_descriptions_must_match(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    told = call("decompose_atom", "A1", "--children", "A2,A3", "--descriptions", "x", "--reason", "r", code=2)
    assert "2 children, but 1 descriptions" in told["error"]


def test_an_atom_that_would_close_a_cycle_is_refused(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", or_group="g"), atom("A2", "A1")))
    before = path.read_bytes()
    error = call("add_atom", "A3", "--description", "x", "--depends-on", "A2", "--or-group", "g", code=1)["error"]
    assert "cycle" in error
    assert path.read_bytes() == before


# --- corrections -------------------------------------------------------------------------------------------------

SAID = ("--description", "as the customer said")


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("alignment", "--goal", "Better", "--base-case", "{type: file, value: x}"), "objective_change"),
        (("constraints", "--constraints", "{max_iterations: 30}"), "constraint_change"),
        (("add_atom", "--atom-description", "more", "--depends-on", "A1"), "dag_adjustment"),
        (("remove_atom", "--atom", "A2"), "dag_adjustment"),
        (("force_choice", "--or-group", "g", "--choice", "B2"), "dag_adjustment"),
        (("override_binding", "--atom", "A1", "--summary", "otherwise"), "bindings_override"),
        (("retry", "--atom", "A2"), "dag_adjustment"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_every_kind_of_correction_is_applied_and_recorded(project: Path, words: tuple[str, ...], kind: str) -> None:
    write_loop(
        project, a_loop(atom("A1", status="resolved"), atom("A2"), atom("B1", or_group="g"), atom("B2", or_group="g"))
    )
    told = call("apply_correction", *words, *SAID)
    assert (told["success"], told["kind"], told["type"]) == (True, words[0], kind)
    assert state(project).corrections[-1].description == SAID[1]
    assert call("validate_state")["valid"] is True


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("sideways",), "it is one of alignment"),
        (("alignment",), "at least one of"),
        (("remove_atom",), "remove_atom needs --atom"),
        (("constraints", "--constraints", "{max_hope: 1}"), "there is no constraint max_hope"),
        (("constraints", "--constraints", "{max_iterations: many}"), "--constraints"),
        (("alignment", "--base-case", "{type: wish}"), "--base-case cannot be read"),
    ],
)
def test_a_correction_that_makes_no_sense_is_a_usage_error(project: Path, words: tuple[str, ...], why: str) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    before = path.read_bytes()
    assert why in call("apply_correction", *words, *SAID, code=2)["error"]
    assert path.read_bytes() == before


def test_a_retry_that_a_person_grants_is_one_step(project: Path) -> None:
    loop = a_loop(atom("A1", failures=9, attempts=1, alike=9), atom("A2", status="in_progress"))
    loop.control = replace(loop.control, tried=20, shares=2, redirect_requested=True)
    write_loop(project, loop)
    told = call("request_redirect", "--retry", "A1")
    assert told == {
        "success": True, "redirect_requested": False, "interrupted": ["A2"], "retried": ["A1"], "attempts_left": 10
    }  # fmt: skip
    loop = state(project)
    assert [(one.status, one.failures, one.attempts, one.alike) for one in loop.atoms] == [("pending", 0, 0, 0)] * 2
    assert (loop.control.redirect_requested, loop.corrections[-1].description) == (False, "A1 gets new attempts")


def test_a_retry_for_what_is_done_or_unknown_changes_nothing(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), atom("A2", status="resolved")))
    before = path.read_bytes()
    assert "only unresolved atoms" in call("request_redirect", "--retry", "A1,A2", code=1)["error"]
    assert "contradict" in call("request_redirect", "--retry", "A1", "--cancel", code=2)["error"]
    assert path.read_bytes() == before


# --- briefings -----------------------------------------------------------------------------------------------------


def test_a_coordinator_is_told_the_situation_and_no_results(project: Path) -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1"), status="running")
    loop.bindings["A1"] = Binding(summary="a long story", artifacts=("a.txt",))
    write_loop(project, loop)
    told = call("read_state", "--brief")
    assert (told["situation"], [one["id"] for one in told["start"]]) == ("start", ["A2"])
    assert "a long story" not in json.dumps(told)


def test_an_agent_is_told_all_about_its_atom_and_nothing_of_others(project: Path) -> None:
    check = AtomCheck(type="command", value="make test")
    loop = a_loop(
        atom("A1", status="resolved"), atom("A2", "A1", check=check), atom("A3", status="resolved"), status="running"
    )
    loop.bindings["A1"] = Binding(summary="there is a table", artifacts=("a.txt",))
    loop.bindings["A3"] = Binding(summary="of no concern")
    loop.trail.append(TrailEntry(type="failure", atom="A2", reason="no such option", timestamp="t"))
    write_loop(project, loop)
    told = call("read_state", "--atom", "A2")
    assert (told["atom"], told["description"], told["goal"]) == ("A2", "do A2", "It works")
    assert told["decided_by"] == ["this command must succeed: make test"]
    assert told["builds_on"] == {"A1": {"summary": "there is a table", "artifacts": ["a.txt"]}}
    assert told["failed_before"] == ["A2: no such option"]
    assert "of no concern" not in json.dumps(told)
    assert (told["own_worktree"], told["project"]) == (False, str(project))
    assert "there is no atom" in call("read_state", "--atom", "A9", code=1)["error"]
    assert "name one of them" in call("read_state", "--atom", "A2", "--brief", code=2)["error"]


def test_without_a_loop_a_briefing_says_so(project: Path) -> None:
    assert project.exists()
    assert call("read_state", "--brief") == call("read_state", "--atom", "A1") == {"exists": False}
