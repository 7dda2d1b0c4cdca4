"""integrate: what an agent did reaches the branch whole, once, checked; or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.app.session.integration.integrate import integrate
from aotloop.app.session.integration.integration_result import Integrated
from aotloop.core.model import Atom, AtomCheck, BaseCase, Binding, Check, ChecklistItem
from aotloop.statefile import durable
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE
from aotloop.statefile.store import Store
from tests.git.checkouts import head, make_checkout, save, sh, write
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.patience import until
from tests.scripts.calling import SCRIPTS, call, token_for
from tests.scripts.repositories import SESSION, dirty, integrated, loop_in_session, state, worktree

DONE = ("--summary", "did it")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_checkout(tmp_path / "project")
    (folder / ".claude").mkdir()
    monkeypatch.chdir(folder)
    return folder


def begun(name: str = "A1", **more: Any) -> Atom:
    return atom(name, status="in_progress", **more)


def commit(project: Path, files: dict[str, str]) -> str:
    """As a person does, who has nothing of the loop's in the repository."""
    write(project, files)
    sh(project, "add", "-f", "--", *files)
    sh(project, "commit", "-q", "-m", "by a person")
    return head(project)


def passes(command: str) -> AtomCheck:
    return AtomCheck(type="command", value=command)


# --- from a worktree ---------------------------------------------------------------------------------------------


def test_work_in_a_worktree_lands_as_one_commit_and_resolves_its_atom(project: Path) -> None:
    loop_in_session(project, begun(), atom("A2", "A1"))
    place = worktree(project, "x", {"new.txt": "new\n", "a.txt": "changed\n"})
    save(place, "a commit of the agent's own")
    write(place, {"more.txt": "not committed\n"})
    before = head(project)
    told = call("integrate", "A1", "--worktree", str(place), *DONE, "--artifacts", "new.txt,more.txt")
    assert (told["success"], told["commit"], told["worktree_removed"]) == (True, head(project), True)
    assert sh(project, "rev-parse", "HEAD^") == before
    assert (project / "more.txt").read_text() == "not committed\n"
    assert integrated(project) == ["A1"]
    loop = state(project)
    assert (loop.atoms[0].status, loop.control.last_sha) == ("resolved", head(project))
    assert loop.bindings["A1"] == Binding(summary="did it", artifacts=("new.txt", "more.txt"))
    assert dirty(project) == ""


def test_what_may_start_is_begun_in_the_same_call_and_the_answer_is_short(project: Path) -> None:
    loop_in_session(project, begun(), atom("A2", "A1"), atom("A3", "A2"))
    place = worktree(project, "x", {"new.txt": "new\n"})
    told = call("integrate", "A1", "--next", "--worktree", place.name, *DONE)
    token = token_for("A2")[1]
    assert told == {"success": True, "begun": {"worker": {"A2": token}}}
    assert [one.status for one in state(project).atoms] == ["resolved", "in_progress", "pending"]
    place = worktree(project, "y", {"more.txt": "new\n"})
    assert (
        "A3" in call("integrate", "A2", "--next", "--token", token, "--worktree", place.name, *DONE)["begun"]["worker"]
    )


def test_what_changed_is_what_others_read_of_if_nothing_else_is_said(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n", "a.txt": "changed\n"})
    call("integrate", "A1", "--next", "--worktree", place.name, *DONE)
    assert state(project).bindings["A1"].artifacts == ("a.txt", "new.txt")


def test_with_next_a_failing_check_is_recorded_as_a_failure(project: Path) -> None:
    loop_in_session(project, begun(check=passes("false")), atom("A2"))
    place = worktree(project, "x", {"new.txt": "new\n"})
    told = call("integrate", "A1", "--next", "--worktree", place.name, *DONE, code=1)
    assert (told["why"], told["next"]) == ("check", "retry")


def test_after_a_stop_nothing_is_begun_and_what_is_unusual_is_told(project: Path) -> None:
    loop_in_session(project, begun(), atom("A2", "A1"))
    place = worktree(project, "x", {})
    call("request_stop", "--reason", "enough")
    told = call("integrate", "A1", "--next", "--worktree", str(place), *DONE)
    assert "begun" not in told
    assert state(project).atoms[1].status == "pending"


def test_a_name_of_a_worktree_does_not_lead_elsewhere(project: Path) -> None:
    loop_in_session(project, begun())
    for name in ("..", "../..", "nowhere"):
        assert "begun" not in call("integrate", "A1", "--next", "--worktree", name, *DONE, code=1)


def test_afterwards_the_clients_worktree_and_its_branch_are_gone(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n"})
    call("integrate", "A1", "--worktree", str(place), *DONE)
    assert not place.exists()
    assert "agent-x" not in sh(project, "worktree", "list") + sh(project, "branch", "--list")


def test_a_worktree_of_the_persons_stays(project: Path, tmp_path: Path) -> None:
    loop_in_session(project, begun())
    place = tmp_path / "beside"
    sh(project, "worktree", "add", "-q", "-b", "mine", str(place))
    write(place, {"new.txt": "new\n"})
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["worktree_removed"] is False
    assert place.exists()
    assert "mine" in sh(project, "branch", "--list")


def test_a_worktree_from_an_older_commit_is_merged_with_what_came_since(project: Path) -> None:
    loop_in_session(project, begun(check=passes("test -f new.txt")))
    place = worktree(project, "x", {"new.txt": "new\n"})
    commit(project, {"b.txt": "somebody else\n"})
    call("integrate", "A1", "--worktree", str(place), *DONE)
    assert ((project / "b.txt").read_text(), (project / "new.txt").read_text()) == ("somebody else\n", "new\n")


def test_of_a_worktree_from_a_remote_that_is_ahead_only_the_agents_work_lands(project: Path) -> None:
    loop_in_session(project, begun())
    sh(project, "switch", "-q", "-c", "upstream")
    ahead = commit(project, {"upstream.txt": "not ours yet\n"})
    sh(project, "switch", "-q", "main")
    place = worktree(project, "x", {"new.txt": "new\n"}, start=ahead)
    call("integrate", "A1", "--worktree", str(place), *DONE)
    assert (project / "new.txt").exists()
    assert not (project / "upstream.txt").exists()


def test_a_worktree_that_took_in_our_branch_is_not_blamed_for_what_others_did(project: Path) -> None:
    loop_in_session(project, begun(), protect=("src/**",))
    place = worktree(project, "x", {"new.txt": "new\n"})
    save(place)
    commit(project, {"src/c.txt": "a person may\n"})
    sh(place, "merge", "-q", "--no-edit", "main")
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["success"] is True


def test_work_that_changed_nothing_resolves_its_atom_without_a_commit(project: Path) -> None:
    loop_in_session(project, begun())
    before = head(project)
    told = call("integrate", "A1", "--worktree", str(worktree(project, "x", {})), *DONE)
    assert (told["commit"], head(project), state(project).atoms[0].status) == (None, before, "resolved")


def test_a_tracked_file_that_is_ignored_is_not_lost(project: Path) -> None:
    commit(project, {".gitignore": "*.log\n", "kept.log": "tracked\n"})
    loop_in_session(project, begun())
    call("integrate", "A1", "--worktree", str(worktree(project, "x", {"new.txt": "n\n"})), *DONE)
    assert (project / "kept.log").exists()


def test_a_state_file_that_is_committed_makes_no_difference(project: Path) -> None:
    path = loop_in_session(project, begun())
    commit(project, {".claude/aot-loop-state.md": path.read_text()})
    place = worktree(project, "x", {"new.txt": "new\n"})
    call("integrate", "A1", "--worktree", str(place), *DONE)
    assert (integrated(project), state(project).atoms[0].status) == (["A1"], "resolved")


def test_whoever_works_in_the_worktree_can_hand_it_in_and_keeps_the_ground_it_stands_on(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n"})
    assert call("integrate", "A1", "--worktree", ".", *DONE, cwd=place)["worktree_removed"] is False
    assert (place.exists(), integrated(project)) == (True, ["A1"])
    told = call("integrate", "A1", "--worktree", str(place), *DONE)
    assert (told["was_done_before"], told["worktree_removed"], integrated(project)) == (True, True, ["A1"])


def test_a_project_in_a_folder_of_its_repository_is_looked_at_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_checkout(tmp_path / "top")
    monkeypatch.chdir(top / "src")
    loop_in_session(top / "src", begun(check=passes("test -f new.txt")), begun("A2"), protect=("c.txt",))
    place = worktree(top, "x", {"src/new.txt": "new\n", "c.txt": "not the protected one\n"})
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["worktree_removed"] is True
    other = worktree(top, "y", {"src/c.txt": "protected\n"})
    assert call("integrate", "A2", "--worktree", str(other), *DONE, code=1)["protected"] == ["src/c.txt"]
    assert integrated(top) == ["A1"]


# --- what is refused ---------------------------------------------------------------------------------------------


def test_a_check_that_fails_keeps_the_work_off_the_branch(project: Path) -> None:
    loop_in_session(project, begun(check=passes("grep -q right new.txt")))
    place = worktree(project, "x", {"new.txt": "wrong\n"})
    before = head(project)
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert (told["success"], told["why"]) == (False, "check")
    assert (head(project), state(project).atoms[0].status, place.exists()) == (before, "in_progress", True)
    write(place, {"new.txt": "right\n"})
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["success"] is True


def test_an_item_that_the_atom_covers_is_its_check(project: Path) -> None:
    loop = a_loop(begun(covers=("command: grep -q right new.txt",)), command="grep -q right new.txt")
    loop.control = replace(loop.control, run_id="r1", session_id=SESSION)
    write_loop(project, loop)
    place = worktree(project, "x", {"new.txt": "wrong\n"})
    assert "accept" in call("integrate", "A1", "--worktree", str(place), *DONE, code=1)["error"]
    write_accepted(project, loop)
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert (told["success"], told["why"]) == (False, "check")
    assert "update_atom" not in told["error"]
    assert call("update_atom", "A1", "resolved", code=1)["success"] is False
    assert state(project).atoms[0].status == "in_progress"
    write(place, {"new.txt": "right\n"})
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["success"] is True
    assert state(project).atoms[0].status == "resolved"


def test_what_passes_alone_is_checked_again_with_what_was_merged_meanwhile(project: Path) -> None:
    loop_in_session(project, begun(check=passes("! (test -f new.txt && test -f other.txt)")))
    place = worktree(project, "x", {"new.txt": "new\n"})
    before = commit(project, {"other.txt": "other\n"})
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert "together with what was merged meanwhile" in told["error"]
    assert (head(project), dirty(project)) == (before, "")
    assert len(sh(project, "worktree", "list").splitlines()) == 2


def test_a_conflict_is_told_and_nothing_lands(project: Path) -> None:
    loop_in_session(project, begun(), begun("A2"))
    first, second = (worktree(project, name, {"a.txt": f"{name}\n"}) for name in ("x", "y"))
    call("integrate", "A1", "--worktree", str(first), *DONE)
    before = head(project)
    told = call("integrate", "A2", "--worktree", str(second), *DONE, code=1)
    assert (told["success"], told["conflict"], told["with"]) == (False, ["a.txt"], ["A1"])
    assert (head(project), second.exists(), state(project).atoms[1].status) == (before, True, "in_progress")


@pytest.mark.parametrize(
    "path",
    ["src/c.txt", STATE_FILE, f"sub/{STATE_FILE}", ".aot/x", PHASE_FILE, f"sub/{PHASE_FILE}"],
)
def test_a_protected_path_and_the_loops_own_files_may_not_have_changed(project: Path, path: str) -> None:
    loop_in_session(project, begun(), protect=("src/**",))
    place = worktree(project, "x", {path: "changed\n", "new.txt": "new\n"})
    before = head(project)
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert (told["why"], told["protected"]) == ("protected", [path])
    assert (head(project), state(project).atoms[0].status) == (before, "in_progress")


# --- the items that an atom covers, and what a refusal counts for ------------------------------------------------

COVERING = BaseCase(
    checklist=(
        ChecklistItem(item="one is there", check=Check(type="file", value="one.txt")),
        ChecklistItem(item="two is there", check=Check(type="command", value="test -f two.txt")),
        ChecklistItem(item="three is there", check=Check(type="file", value="three.txt")),
    )
)
COVERED = ("one is there", "two is there")


def test_the_items_that_an_atom_covers_are_its_check(project: Path) -> None:
    loop_in_session(project, begun(covers=COVERED), base_case=COVERING)
    place = worktree(project, "x", {"one.txt": "1\n"})
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert told["why"] == "check"
    assert "two is there: " in told["error"]
    assert "three" not in told["error"]
    write(place, {"two.txt": "2\n"})
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["success"] is True


def test_with_or_fail_what_a_check_finds_is_recorded_as_a_run_would(project: Path) -> None:
    loop_in_session(project, begun(check=passes("grep -q right new.txt")))
    place = worktree(project, "x", {"new.txt": "wrong\n"})
    before = head(project)
    for times in (1, 2):
        told = call("integrate", "A1", "--or-fail", "--worktree", str(place), *DONE, code=1)
        assert (told["success"], told["why"], told["next"], told["failures"]) == (False, "check", "retry", times)
        assert state(project).trail[-1].reason == told["error"]
        assert (state(project).atoms[0].alike, state(project).atoms[0].status) == (times, "pending"), (
            "the same evidence"
        )
        call("update_atom", "A1", "in_progress")
    assert (head(project), place.exists()) == (before, True)


def test_part_of_a_check_that_holds_only_with_this_work_is_progress(project: Path) -> None:
    loop_in_session(project, begun(covers=COVERED), base_case=COVERING)
    write(project, {"two.txt": "2\n"})
    call("verify_checklist", code=1)
    place = worktree(project, "x", {"two.txt": "2\n"})
    told = call("integrate", "A1", "--or-fail", "--worktree", str(place), *DONE, code=1)
    assert (told["holding"], state(project).atoms[0].partial) == ([], False), "it held before"
    call("update_atom", "A1", "in_progress")
    (place / "two.txt").unlink()
    write(place, {"one.txt": "1\n"})
    told = call("integrate", "A1", "--or-fail", "--worktree", str(place), *DONE, code=1)
    assert (told["holding"], state(project).atoms[0].partial) == (["one is there"], True)


def test_with_or_fail_a_protected_path_is_a_failure_and_a_conflict_is_nobodys(project: Path) -> None:
    loop_in_session(project, begun(), begun("A2"), begun("A3"), protect=("src/**",))
    place = worktree(project, "p", {"src/c.txt": "changed\n"})
    told = call("integrate", "A3", "--or-fail", "--worktree", str(place), *DONE, code=1)
    assert (told["why"], told["next"]) == ("protected", "retry")
    first, second = (worktree(project, name, {"a.txt": f"{name}\n"}) for name in ("x", "y"))
    call("integrate", "A1", "--or-fail", "--worktree", str(first), *DONE)
    told = call("integrate", "A2", "--or-fail", "--worktree", str(second), *DONE, code=1)
    assert (told["why"], "next" in told) == ("conflict", False)
    assert [(one.status, one.failures) for one in state(project).atoms[1:]] == [("in_progress", 0), ("pending", 1)]


def test_a_persons_edits_in_the_way_block_it_and_stay_as_they_are(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"a.txt": "agent\n"})
    write(project, {"a.txt": "person\n", "notes.txt": "mine\n"})
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert (told["why"], told["blocked"]) == ("blocked", ["a.txt"])
    assert ((project / "a.txt").read_text(), (project / "notes.txt").read_text()) == ("person\n", "mine\n")


def test_a_persons_edits_elsewhere_are_not_touched(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"a.txt": "agent\n"})
    write(project, {"b.txt": "person\n", "notes.txt": "mine\n"})
    sh(project, "add", "b.txt")
    call("integrate", "A1", "--worktree", str(place), *DONE)
    assert dirty(project).splitlines() == ["M  b.txt", "?? notes.txt"]


def test_the_checkout_itself_and_other_repositories_are_no_worktrees(project: Path, tmp_path: Path) -> None:
    loop_in_session(project, begun())
    other = make_checkout(tmp_path / "other")
    assert "is the checkout itself" in call("integrate", "A1", "--worktree", ".", *DONE, code=1)["error"]
    for path in (other, tmp_path / "nowhere", project / "src"):
        assert "is not a worktree of" in call("integrate", "A1", "--worktree", str(path), *DONE, code=1)["error"]
    assert state(project).atoms[0].status == "in_progress"


def test_a_worktree_whose_link_leads_elsewhere_is_still_the_one_git_knows(project: Path, tmp_path: Path) -> None:
    loop_in_session(project, begun())
    other = make_checkout(tmp_path / "other")
    place = worktree(project, "x", {"new.txt": "new\n"})
    (place / ".git").write_text(f"gitdir: {other}/.git\n")
    assert call("integrate", "A1", "--worktree", str(place), *DONE)["success"] is True
    assert (project / "new.txt").exists()
    assert head(other) == sh(other, "rev-parse", "main")


def test_commands_that_nobody_accepted_are_not_run(project: Path) -> None:
    write_loop(project, a_loop(begun(check=passes("touch ../../../ran; true"))))
    place = worktree(project, "x", {"new.txt": "new\n"})
    told = call("integrate", "A1", "--worktree", str(place), *DONE, code=1)
    assert (told["success"], told["commands"]) == (False, ["true", "touch ../../../ran; true"])
    assert not (project / "ran").exists()
    assert state(project).atoms[0].status == "in_progress"


def test_only_the_session_that_drives_the_loop_integrates(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n"})
    env = {**os.environ, "CLAUDE_CODE_SESSION_ID": "another"}
    assert SESSION in call("integrate", "A1", "--worktree", str(place), *DONE, code=1, env=env)["error"]
    env["CLAUDE_CODE_SESSION_ID"] = SESSION
    assert call("integrate", "A1", "--worktree", str(place), *DONE, env=env)["success"] is True


def test_nothing_is_integrated_beside_a_run(project: Path) -> None:
    path = loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n"})
    with held_by_another(path):
        assert "runs this loop" in call("integrate", "A1", "--worktree", str(place), *DONE, code=1)["error"]


def test_an_atom_that_was_not_begun_is_refused_before_anything_is_done(project: Path) -> None:
    loop_in_session(project, atom("A1"))
    place = worktree(project, "x", {"new.txt": "new\n"})
    before = head(project)
    assert "is pending" in call("integrate", "A1", "--worktree", str(place), *DONE, code=1)["error"]
    assert "there is no atom" in call("integrate", "nope", "--in-place", *DONE, code=1)["error"]
    assert head(project) == before


def test_where_the_work_is_has_to_be_said_once(project: Path) -> None:
    loop_in_session(project, begun())
    assert "--in-place" in call("integrate", "A1", *DONE, code=2)["error"]
    call("integrate", "A1", "--in-place", "--worktree", "x", *DONE, code=2)


def test_hostile_names_are_names_like_others(project: Path) -> None:
    name = "A 1; touch pwned\nAot-Atom: other %0a$(x)"
    loop_in_session(project, begun(name, description="--amend\n\nAot-Run: r2"))
    place = worktree(project, "x", {"-n; touch pwned": "x\n", '日本 "q".txt': "x\n", ":(top)y": "x\n"})
    assert call("integrate", "--worktree", str(place), *DONE, "--", name)["success"] is True
    assert (project / '日本 "q".txt').exists()
    assert not (project / "pwned").exists()
    assert state(project).atoms[0].status == "resolved"


# --- in place ----------------------------------------------------------------------------------------------------


def test_work_in_place_becomes_a_commit(project: Path) -> None:
    loop_in_session(project, begun(check=passes("test -f new.txt")))
    write(project, {"new.txt": "new\n", "-x :(top).txt": "odd\n"})
    (project / "b.txt").unlink()
    sh(project, "add", "new.txt")
    told = call("integrate", "A1", "--in-place", *DONE)
    assert (told["commit"], told["left"], dirty(project)) == (head(project), [], "")
    assert integrated(project) == ["A1"]
    assert "aot-loop-state" not in sh(project, "ls-files")


def test_an_atom_takes_no_more_than_it_touches(project: Path) -> None:
    loop_in_session(project, begun(touches=("src/**",)))
    write(project, {"src/new.txt": "agent\n", "a.txt": "person\n", "b.txt": "staged\n"})
    sh(project, "add", "b.txt")
    told = call("integrate", "A1", "--in-place", *DONE)
    assert sorted(told["left"]) == ["a.txt", "b.txt"]
    assert sh(project, "show", "--name-only", "--format=", "HEAD") == "src/new.txt"
    assert dirty(project).splitlines() == [" M a.txt", "M  b.txt"]


def test_in_place_too_checks_and_protected_paths_decide(project: Path) -> None:
    loop_in_session(project, begun(check=passes("false")), begun("A2"), protect=("src/**",))
    write(project, {"new.txt": "new\n"})
    assert call("integrate", "A1", "--in-place", *DONE, code=1)["why"] == "check"
    write(project, {"src/c.txt": "changed\n"})
    assert call("integrate", "A2", "--in-place", *DONE, code=1)["protected"] == ["src/c.txt"]
    assert integrated(project) == []


def test_without_a_repository_there_is_nothing_to_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_accepted(folder, a_loop(begun(check=passes("test -f made.txt"))))
    assert "is not in a git repository" in call("integrate", "A1", "--worktree", "x", *DONE, code=1)["error"]
    assert call("integrate", "A1", "--in-place", *DONE, code=1)["why"] == "check"
    (folder / "made.txt").touch()
    told = call("integrate", "A1", "--in-place", *DONE)
    assert (told["success"], told["commit"]) == (True, None)
    assert state(folder).bindings["A1"].summary == "did it"


# --- at the same time, and killed --------------------------------------------------------------------------------


def test_several_at_once_all_land_one_after_the_other(project: Path) -> None:
    names = [f"A{number}" for number in range(1, 5)]
    loop_in_session(project, *(begun(name, check=passes(f"test -f {name}.txt")) for name in names))
    places = {name: worktree(project, name, {f"{name}.txt": "x\n"}) for name in names}
    started = [
        subprocess.Popen(
            [sys.executable, str(SCRIPTS["integrate"]), name, "--worktree", str(place), *DONE, *token_for(name)],
            stdout=subprocess.PIPE,
        )
        for name, place in places.items()
    ]
    told = [one.communicate()[0] for one in started]
    assert [one.returncode for one in started] == [0] * 4, told
    assert sorted(integrated(project)) == names
    assert {one.status for one in state(project).atoms} == {"resolved"}
    assert dirty(project) == ""
    assert len(sh(project, "worktree", "list").splitlines()) == 1


def test_the_same_work_handed_in_twice_at_once_lands_once(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has its commit ready, in another second and so under another name, before the first has landed."""
    loop_in_session(
        project, begun(check=passes(f"touch {tmp_path}/$$.begun; while ! test -f {tmp_path}/go; do sleep 0.02; done"))
    )
    monkeypatch.setenv("AOT_CONFINE", "off")  # the check leaves its marks beside the project
    place = tmp_path / "beside"
    sh(project, "worktree", "add", "-q", "-b", "mine", str(place))
    write(place, {"new.txt": "new\n"})
    command = [sys.executable, str(SCRIPTS["integrate"]), "A1", "--worktree", str(place), *DONE, *token_for("A1")]
    started = []
    for number in (1, 2):
        began = int(time.time())
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        until(lambda number=number: len(list(tmp_path.glob("*.begun"))) == number)  # type: ignore[misc]
        until(lambda began=began: int(time.time()) > began)  # type: ignore[misc]
    (tmp_path / "go").touch()
    told = [one.communicate()[0] for one in started]
    assert sorted(one.returncode for one in started) == [0, 1], told
    assert b"was resolved meanwhile" in told[0] + told[1]
    assert (integrated(project), state(project).atoms[0].status) == (["A1"], "resolved")


def test_of_two_results_for_one_atom_the_first_counts(project: Path) -> None:
    loop_in_session(project, begun())
    first, second = (worktree(project, name, {f"{name}.txt": "x\n"}) for name in ("x", "y"))
    call("integrate", "A1", "--worktree", str(first), *DONE)
    error = call("integrate", "A1", "--worktree", str(second), *DONE, code=1)["error"]
    assert "is resolved already, by other work" in error
    assert (integrated(project), second.exists(), (project / "y.txt").exists()) == (["A1"], True, False)


def test_a_file_that_is_saved_at_the_last_moment_does_not_land_it_twice(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = loop_in_session(project, begun())
    place = worktree(project, "x", {"new.txt": "new\n"})
    replace_file = durable.replace
    saved: list[bool] = []

    def saved_meanwhile(*args: Any) -> Any:
        if saved:
            return replace_file(*args)
        saved.append(True)
        path.write_text(path.read_text() + "\nA note of the person's.\n")
        commit(project, {"b.txt": "and a commit\n"})
        return None

    monkeypatch.setattr(durable, "replace", saved_meanwhile)
    token, store = token_for("A1")[1], Store(str(path))
    done = integrate(store, "A1", place, summary="", artifacts=(), permit=lambda _: None, session=None, token=token)
    assert isinstance(done, Integrated)
    assert (saved, integrated(project), state(project).atoms[0].status) == ([True], ["A1"], "resolved")
    assert "A note of the person's." in path.read_text()


KILLED = """
import os, signal, sys
from importlib import import_module
from aotloop.scripts.run import run
import msgspec

module, name, count = sys.argv[1], sys.argv[2], [int(sys.argv[3])]
owner = import_module(module)
before = getattr(owner, name)

def killing(*args, **more):
    count[0] -= 1
    if count[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return before(*args, **more)

setattr(owner, name, killing)
run("integrate", sys.argv[4:])
"""


@pytest.mark.parametrize(
    ("module", "name", "count"),
    [
        ("aotloop.statefile.durable", "replace", 1),
        ("aotloop.git.commits.integration", "landing", 1),
        ("aotloop.git.checkout.fast_forward", "git", 1),
        ("aotloop.app.session.integration.worktree_commit", "dismiss", 1),
        ("aotloop.git.worktrees.foreign", "remove_tree", 1),
        ("aotloop.git.worktrees.foreign", "remove_tree", 2),
    ],
)
def test_whoever_is_killed_and_called_again_neither_loses_nor_doubles_it(
    project: Path, module: str, name: str, count: int
) -> None:
    loop_in_session(project, begun(check=passes("test -f new.txt")), begun("A2"))
    place = worktree(project, "x", {"new.txt": "new\n", "a.txt": "agent\n"})
    words = ("A1", "--worktree", str(place), *DONE, *token_for("A1"))
    killed = subprocess.run([sys.executable, "-c", KILLED, module, name, str(count), *words], check=False)
    assert killed.returncode == -9
    if place.exists():
        assert call("integrate", *words)["success"] is True
    assert integrated(project) == ["A1"]
    assert state(project).atoms[0].status == "resolved"
    assert ((project / "a.txt").read_text(), dirty(project)) == ("agent\n", "")
    other = worktree(project, "y", {"b.txt": "next\n"})
    assert call("integrate", "A2", "--worktree", str(other), *DONE)["success"] is True
    assert integrated(project) == ["A1", "A2"]


def test_what_had_landed_when_it_was_killed_stays_one_commit_whatever_came_on_top(project: Path) -> None:
    loop_in_session(project, begun())
    place = worktree(project, "x", {"a.txt": "agent\n"})
    words = ("A1", "--worktree", str(place), *DONE, *token_for("A1"))
    killing = ("aotloop.statefile.durable", "replace", "1")
    subprocess.run([sys.executable, "-c", KILLED, *killing, *words], check=False)
    commit(project, {"a.txt": "a person went on\n"})
    told = call("integrate", *words)
    assert (told["was_done_before"], integrated(project)) == (True, ["A1"])
    assert (project / "a.txt").read_text() == "a person went on\n"


def test_work_in_place_that_was_killed_is_not_doubled(project: Path) -> None:
    loop_in_session(project, begun())
    write(project, {"new.txt": "new\n"})
    killing = ("aotloop.statefile.durable", "replace", "1")
    subprocess.run([sys.executable, "-c", KILLED, *killing, "A1", "--in-place", *DONE, *token_for("A1")], check=False)
    told = call("integrate", "A1", "--in-place", *DONE)
    assert (told["commit"], integrated(project)) == (head(project), ["A1"])
