"""enter_loop: gate, consent, red first; then the loop runs, and is this session's alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.preflight.consent import accept_shown
from aotloop.app.slash_commands import to_type
from aotloop.core.commands import commands_of
from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem, Decomposition, Loop
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import digest_of
from aotloop.trust.objectives import agree
from tests.git.checkouts import make_checkout, write
from tests.holders import held_by_another
from tests.loops import a_loop, as_file, atom, write_accepted, write_loop
from tests.scripts.calling import SCRIPTS, call
from tests.scripts.repositories import state

ME = ("--session", "me")


def waiting(command: str = "test -f done.txt", **more: object) -> Loop:
    return a_loop(atom("A1"), status="pending", command=command, **more)


def held_by(loop: Loop, session: str, status: str = "running") -> Loop:
    loop.control = replace(loop.control, status=status, session_id=session, run_id="r1")
    return loop


def test_a_loop_that_is_entered_runs_and_is_bound_to_the_session(project: Path) -> None:
    write_accepted(project, waiting())
    told = call("enter_loop", *ME)
    assert (told["success"], told["status"], told["session_id"], told["was_running"]) == (True, "running", "me", False)
    control = state(project).control
    assert (control.status, control.session_id, control.run_id) == ("running", "me", told["run_id"])
    assert list(told["failing"]) == ["command: test -f done.txt"]


def test_the_client_says_which_session_it_is(project: Path) -> None:
    write_accepted(project, waiting())
    assert "--session" in call("enter_loop", code=2)["error"]
    env = {**os.environ, "CLAUDE_CODE_SESSION_ID": "from the client"}
    assert call("enter_loop", env=env)["session_id"] == "from the client"
    assert state(project).control.session_id == "from the client"


def test_red_first_names_what_holds_before_any_work(project: Path) -> None:
    items = (
        ChecklistItem(item="empty words", check=Check(type="command", value="true")),
        ChecklistItem(item="made", check=Check(type="file", value="done.txt")),
        ChecklistItem(item="feels right", check=Check(type="assertion", value="it does")),
    )
    write_accepted(project, a_loop(atom("A1"), status="pending", base_case=BaseCase(checklist=items)))
    told = call("enter_loop", *ME)
    assert told["holding"] == ["empty words"]
    assert list(told["failing"]) == ["made"]
    assert list(told["waiting"]) == ["feels right"]


def test_a_base_case_that_holds_already_completes_the_loop_at_once(project: Path) -> None:
    write_accepted(project, waiting("true"))
    assert call("enter_loop", *ME)["status"] == "completed"
    assert state(project).control.status == "completed"


def test_the_gate_keeps_out_what_is_not_agreed_on(project: Path) -> None:
    path = write_accepted(project, waiting())
    path.write_text(path.read_text().replace('goal: "It works"', 'goal: " "'))
    assert "objective.goal" in call("enter_loop", *ME, code=1)["error"]
    assert (state(project).control.status, state(project).control.session_id) == ("pending", None)


def test_a_completed_loop_is_not_entered(project: Path) -> None:
    write_accepted(project, a_loop(atom("A1", status="resolved"), status="completed"))
    assert "completed" in call("enter_loop", *ME, code=1)["error"]


def test_entering_again_changes_nothing(project: Path) -> None:
    path = write_accepted(project, waiting())
    call("enter_loop", *ME)
    before = path.read_bytes()
    assert call("enter_loop", *ME)["was_running"] is True
    assert path.read_bytes() == before


def test_a_stopped_loop_goes_on_under_its_name(project: Path) -> None:
    write_accepted(project, held_by(waiting(), "me", "stopped"))
    assert call("enter_loop", *ME)["run_id"] == "r1"
    assert state(project).control.stop_reason is None


def test_a_loop_that_a_hook_bound_while_it_ran_still_has_to_be_accepted(project: Path) -> None:
    """A file that comes with a repository may say that it runs already."""
    write_loop(project, held_by(waiting("touch ran"), "me"))
    assert call("enter_loop", *ME, code=1)["commands"] == ["touch ran"]
    assert not (project / "ran").exists()


# --- whose it is -------------------------------------------------------------------------------------------------


def test_another_session_keeps_what_it_drives_until_a_person_says_otherwise(project: Path) -> None:
    path = write_accepted(project, held_by(waiting(), "other"))
    before = path.read_bytes()
    error = call("enter_loop", *ME, code=1)["error"]
    assert "another session (other)" in error
    assert "/aot-loop:enter-recursion take-over" in error
    assert path.read_bytes() == before
    call("enter_loop", *ME, "--take-over")
    assert state(project).control.session_id == "me"


def test_a_session_that_left_holds_nothing(project: Path) -> None:
    write_accepted(project, held_by(waiting(), "other", "stopped"))
    assert call("enter_loop", *ME)["success"] is True
    assert state(project).control.session_id == "me"


def test_a_live_run_is_not_entered_even_to_take_it_over(project: Path) -> None:
    path = write_accepted(project, waiting())
    with held_by_another(path) as holder:
        told = call("enter_loop", *ME, "--take-over", code=1)
    assert f"process {holder.pid} runs this loop" in told["error"]
    assert state(project).control.status == "pending"


def test_of_two_sessions_that_enter_at_once_one_has_it(project: Path) -> None:
    write_accepted(project, waiting("sleep 0.2; test -f done.txt"))
    started = [
        subprocess.Popen([sys.executable, str(SCRIPTS["enter_loop"]), "--session", name], stdout=subprocess.PIPE)
        for name in ("one", "two")
    ]
    told = [one.communicate()[0] for one in started]
    assert sorted(one.returncode for one in started) == [0, 1], told
    winner = ("one", "two")[[one.returncode for one in started].index(0)]
    assert state(project).control.session_id == winner


# --- consent -----------------------------------------------------------------------------------------------------


def test_commands_that_nobody_accepted_are_shown_and_not_run(project: Path) -> None:
    path = write_loop(project, waiting("touch ran; false"))
    told = call("enter_loop", *ME, code=1)
    assert (told["success"], told["commands"]) == (False, ["touch ran; false"])
    assert digest_of(str(path), told["commands"]) in told["error"]
    assert not (project / "ran").exists()
    assert (state(project).control.status, state(project).control.session_id) == ("pending", None)


def test_a_person_accepts_in_a_terminal(project: Path) -> None:
    write_loop(project, waiting())
    aot = Path(sys.executable).with_name("aot")
    subprocess.run([aot, "gate", "--yes"], capture_output=True, check=False)
    assert call("enter_loop", *ME)["success"] is True


def test_a_person_accepts_by_the_digest_of_what_was_shown(project: Path) -> None:
    path = write_loop(project, waiting("touch ran; false"))
    shown = digest_of(str(path), call("enter_loop", *ME, code=1)["commands"])
    path.write_bytes(as_file(waiting("touch worse; false")))
    with pytest.raises(Exception, match="not the ones that were shown"):
        accept_shown(Store(str(path)), shown)
    assert call("enter_loop", *ME, code=1)["success"] is False
    path.write_bytes(as_file(waiting("touch ran; false")))
    assert accept_shown(Store(str(path)), shown) == ["touch ran; false"]
    assert call("enter_loop", *ME)["success"] is True


@pytest.mark.parametrize(
    "words", [("verify_checklist",), ("set_status", "completed"), ("update_atom", "A1", "resolved")]
)
def test_no_script_runs_what_nobody_accepted(project: Path, words: tuple[str, ...]) -> None:
    check = AtomCheck(type="command", value="touch ran")
    loop = a_loop(atom("A1", status="in_progress", check=check), command="touch ran")
    path = write_loop(project, loop)
    before = path.read_bytes()
    assert call(*words, code=1)["commands"] == ["touch ran"]
    assert not (project / "ran").exists()
    assert path.read_bytes() == before
    write_accepted(project, loop)
    assert call(*words)
    assert (project / "ran").exists()


@pytest.mark.parametrize(
    "words", [("update_atom", "A2", "resolved"), ("integrate", "A2", "--in-place", "--summary", "s")]
)
def test_the_check_of_a_parent_is_looked_at_before_its_child_is_resolved(project: Path, words: tuple[str, ...]) -> None:
    parent = atom("A1", check=AtomCheck(type="command", value="touch ran"))
    split = [Decomposition(parent="A1", children=("A2",), reason="r")]
    loop = a_loop(parent, atom("A2", status="in_progress"), decompositions=split)
    write_loop(project, loop)
    assert call(*words, code=1)["commands"] == ["true", "touch ran"]
    assert [one.status for one in state(project).atoms] == ["pending", "in_progress"]
    write_accepted(project, loop)
    assert call(*words)["auto_resolved"] == ["A1"]
    assert (project / "ran").exists()


def test_what_was_accepted_before_a_change_says_nothing_about_what_came_after(project: Path) -> None:
    path = write_accepted(project, waiting("true"))
    path.write_bytes(as_file(waiting("touch ran")))
    assert call("verify_checklist", code=1)["commands"] == ["touch ran"]
    assert not (project / "ran").exists()


def test_files_without_commands_need_no_consent(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), status="pending", base_case=BaseCase(type="file", value="done.txt")))
    assert commands_of(state(project)) == []
    assert call("enter_loop", *ME)["success"] is True


# --- what is told ------------------------------------------------------------------------------------------------


def test_an_objective_that_was_changed_behind_the_loops_back_is_not_entered(project: Path) -> None:
    loop = held_by(waiting(), "me", "stopped")
    path = write_accepted(project, loop)
    agree(str(path), replace(loop.objective, goal="What was agreed on"))
    error = call("enter_loop", *ME, code=1)["error"]
    assert "behind the loop's back" in error
    assert "What was agreed on" in error


def test_what_is_not_committed_is_told_since_worktrees_do_not_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_checkout(tmp_path / "repository")
    monkeypatch.chdir(folder)
    write_accepted(folder, waiting())
    assert call("enter_loop", *ME)["warnings"] == []
    write(folder, {"a.txt": "edited\n", ".claude/worktrees/agent-x/b.txt": "of an agent\n"})
    call("set_status", "stopped")
    (warning,) = call("enter_loop", *ME)["warnings"]
    assert warning.endswith(": a.txt")


def test_in_codex_the_person_is_told_what_to_type_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODEX_SESSION_ID", raising=False)
    assert to_type("take-over") == "`/aot-loop:enter-recursion take-over`"
    monkeypatch.setenv("CODEX_SESSION_ID", "s1")
    assert to_type("take-over") == "`$aot-loop:source-command-enter-recursion take-over`"
