"""Shipping a feature by the script that a session calls: what counts, what does not, and who may say it."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.phases.model import PHASES, PhaseLoop
from aotloop.hooks.entry import run
from aotloop.scripts.json_output import main
from aotloop.scripts.ship.steps import SHIP
from aotloop.statefile.lease import lease
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.trust import human_approvals
from tests.git.checkouts import sh, write
from tests.hooks.features import DOCUMENTS, PLAN, TESTS, committed, repository, shipping, with_tests
from tests.hooks.situations import SESSION
from tests.scripts.calling import call


@pytest.fixture(autouse=True)
def in_session(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.exists()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)


def typed(project: Path, prompt: str, session: str = SESSION) -> str:
    """What the person types, as the hook sees it; and what the model reads of that."""
    path = project / ".claude" / "autonomous-loop.json"
    told = {"session_id": session, "cwd": str(project), "prompt": prompt}
    answer = json.loads(run("UserPromptSubmit", told, None, str(path) if path.exists() else None))
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def ended(project: Path, said: str = "", session: str = SESSION) -> dict[str, Any]:
    """The turn of that session ends."""
    told = {"session_id": session, "cwd": str(project), "last_assistant_message": said}
    answer: dict[str, Any] = json.loads(run("Stop", told, None, str(project / ".claude" / "autonomous-loop.json")))
    return answer


def loop_of(project: Path) -> PhaseLoop:
    return PhaseStore(str(project / ".claude" / "autonomous-loop.json")).load()


def ship(*words: str, code: int = 0) -> dict[str, Any]:
    """The script, in this process."""
    with redirect_stdout(TextIOWrapper(BytesIO())) as out:
        assert main("ship", SHIP, words) == code, out.buffer.getvalue()
    answer: dict[str, Any] = json.loads(out.buffer.getvalue())
    return answer


def produced(project: Path, phase: str) -> list[str]:
    """That phase's document is written and committed; and how it is filed."""
    path, content = DOCUMENTS[phase]
    write(project, {path: content})
    committed(project, phase)
    return ["receipt", "--artifact", path, "--summary", f"did {phase}"]


def done(project: Path, phase: str, code: int = 0) -> dict[str, Any]:
    return ship(*produced(project, phase), code=code)


def test_a_feature_from_the_typed_command_to_the_promise(project: Path) -> None:
    repository(project)
    assert "noted down" in typed(project, "/aot-loop:ship Greet people --no-graph --max-iterations 30")
    begun = call("ship", "begin")
    assert (begun["phase"], begun["status"], begun["session_id"]) == ("brainstorm", "running", SESSION)
    loop = loop_of(project)
    assert (loop.feature, loop.no_graph, loop.max_iterations) == ("Greet people", True, 30)
    assert human_approvals.approval_of("begin", SESSION) is None, "it was said once, and counts once"

    assert ship(*produced(project, "brainstorm"))["phase"] == "plan"
    assert ship(*produced(project, "plan"))["phase"] == "spec_test"
    waiting = ship(*produced(project, "spec_test"))
    assert (waiting["status"], waiting["tests"]["passed"]) == ("waiting", False)
    assert "`/aot-loop:ship approve`" in waiting["next"]
    assert "/aot-loop:ship approve" in ended(project)["systemMessage"], "nothing is counted meanwhile"
    assert loop_of(project).global_iteration == 0
    assert "has approved" in typed(project, "/aot-loop:ship approve")
    assert call("ship", "approve")["phase"] == "deepen"

    for phase, following in pairwise(PHASES[3:]):
        told = ship(*produced(project, phase), "--failed", "by hand|||by mail" if phase == "work" else "")
        assert (told["success"], told["phase"]) == (True, following), told
    assert "- work: by hand\n- work: by mail\n" in (project / "docs" / "progress.md").read_text()
    assert "<promise>SHIPPED</promise>" in ship(*produced(project, "ship"))["next"]
    assert ended(project, "Done. <promise>SHIPPED</promise>")["decision"] == "approve"
    loop = loop_of(project)
    assert (loop.status, loop.phases_completed, loop.errors) == ("completed", PHASES, ())
    assert ended(project, "<promise>SHIPPED</promise>") == {"decision": "approve"}, "nothing begins again"
    assert [point.phase for point in loop.checkpoints] == list(PHASES)


# --- what does not count -----------------------------------------------------------------------------------------


def test_a_forged_receipt_is_refused_with_the_reason(project: Path) -> None:
    shipping(project)
    refused = ship("receipt", "--artifact", "docs/plan.md", "--sha", "f" * 40, code=1)
    assert refused["phase"] == "plan"
    assert any("is not part of what is checked out" in reason for reason in refused["reasons"])
    assert any("does not exist" in reason for reason in refused["reasons"])
    assert loop_of(project).errors[-1].refused


def test_acceptance_tests_that_were_changed_through_a_shell_are_found_out(project: Path) -> None:
    repository(project)
    shipping(project, phase="work", **with_tests(project))
    accepted(project)
    write(project, {TESTS: "true\n"})
    refused = done(project, "work", code=1)
    assert any("were changed since spec_test" in reason for reason in refused["reasons"])
    write(project, {TESTS: "test -f hello.txt\n"})
    assert done(project, "work")["phase"] == "review"


def accepted(project: Path) -> None:
    """The person accepts the command that the refusal names."""
    refused = ship("receipt", "--artifact", "README.md", code=1)
    assert refused["commands"] == [f"sh {TESTS}"]
    typed(project, refused["error"].partition("typing `")[2].partition("`")[0])


def test_commands_are_run_only_after_the_person_accepted_them(project: Path) -> None:
    repository(project)
    shipping(project, phase="work", **with_tests(project, "touch ran\ntest -f hello.txt\n"))
    assert "not accepted" in done(project, "work", code=1)["error"]
    assert not (project / "ran").exists()
    accepted(project)
    ship("receipt", "--artifact", "hello.txt", "--summary", "did work")
    assert (project / "ran").exists()


def test_a_command_of_the_project_s_own_settings_is_not_the_usual_one(project: Path) -> None:
    repository(project)
    write(project, {"aot.toml": '[ship]\ntest_command = "touch ran; sh"\n'})
    committed(project, "settings")
    typed(project, "/ship Greet people --skip-brainstorm")
    ship("begin")
    done(project, "plan")
    refused = done(project, "spec_test", code=1)
    assert refused["commands"] == [f"touch ran; sh {TESTS}"]
    assert not (project / "ran").exists()


def test_another_session_files_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipping(project)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")
    assert "another session" in done(project, "plan", code=1)["error"]
    assert ship("receipt", "--artifact", "docs/plan.md", "--session", SESSION, code=1)["success"] is False


def test_while_aot_ship_runs_the_loop_a_session_files_nothing(project: Path) -> None:
    store = shipping(project)
    with lease(store.path):
        assert "`aot ship` runs this loop" in done(project, "plan", code=1)["error"]


# --- what only a person can say ----------------------------------------------------------------------------------


def test_nobody_skips_the_look_at_the_acceptance_tests_for_the_person(project: Path) -> None:
    repository(project)
    refused = ship("begin", "--feature", "Greet people", "--skip-test-review", code=1)
    assert "only the person can skip the review" in refused["error"]
    typed(project, "/ship Greet people")
    assert ship("begin", "--skip-test-review", code=1)["success"] is False
    typed(project, "/ship Greet people --skip-test-review")
    ship("begin")
    assert loop_of(project).skip_test_review


def test_said_in_words_a_feature_begins_all_the_same(project: Path) -> None:
    repository(project)
    ship("begin", "--feature", "Greet people", "--skip-brainstorm")
    loop = loop_of(project)
    assert (loop.feature, loop.phase, loop.session_id) == ("Greet people", "plan", SESSION)


def test_a_feature_begins_where_the_person_named_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(project)
    typed(project, "/ship Greet people")
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert f"named a feature in {project}" in ship("begin", code=2)["error"]


@pytest.mark.parametrize("step", ["approve", "refuse", "advance", "resume"])
def test_an_agent_cannot_say_it_for_the_person(project: Path, step: str) -> None:
    repository(project)
    status = {"approve": "waiting", "refuse": "waiting", "resume": "stopped"}.get(step, "running")
    shipping(project, phase="spec_test", status=status, **with_tests(project))
    before = loop_of(project)
    refused = ship(step, "--reason", "the person said so", code=1)
    assert "only the person can say" in refused["error"]
    assert f"/aot-loop:ship {step}" in refused["error"]
    assert loop_of(project) == before


def test_what_was_approved_are_the_tests_that_were_shown(project: Path) -> None:
    repository(project)
    shipping(project, phase="spec_test", status="waiting", **with_tests(project))
    typed(project, "/ship approve")
    write(project, {TESTS: "true\n"})
    assert "has changed since" in ship("approve", code=1)["error"]
    assert loop_of(project).status == "waiting"


def test_an_approval_in_one_session_is_none_in_another(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(project)
    shipping(project, phase="spec_test", status="waiting", **with_tests(project))
    assert "another session" in typed(project, "/ship approve", session="another")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "another")
    assert ship("approve", code=1)["success"] is False


def test_refused_tests_are_written_anew(project: Path) -> None:
    repository(project)
    shipping(project, phase="spec_test", status="waiting", **with_tests(project))
    typed(project, "/ship refuse nobody is named in them")
    told = ship("refuse")
    assert (told["status"], told["reasons"]) == ("running", ["nobody is named in them"])
    assert loop_of(project).receipts == ()


def test_a_person_leaves_a_phase_by_force_and_only_that_one(project: Path) -> None:
    shipping(project)
    typed(project, "/ship advance the plan is in my head")
    assert ship("advance")["phase"] == "spec_test"
    assert loop_of(project).errors[-1].forced
    assert "only the person" in ship("advance", code=1)["error"]


def test_a_loop_that_stopped_goes_on_where_the_person_wants_it_with_other_limits(project: Path) -> None:
    shipping(project, status="stopped", stop_reason="limit: 50", global_iteration=50, session_id="another")
    typed(project, "/ship resume --max-iterations 60")
    assert ship("resume")["status"] == "running"
    loop = loop_of(project)
    assert (loop.max_iterations, loop.session_id, loop.stop_reason) == (60, SESSION, None)


def test_what_was_said_of_one_stop_does_not_count_for_the_next(project: Path) -> None:
    stopped = {"status": "stopped", "stop_reason": "stalled", "phase": "spec_test"}
    store = shipping(project, **stopped)
    typed(project, "/ship resume")
    store.create(replace(store.load(), global_iteration=9), overwrite=True)
    assert "has changed since" in ship("resume", code=1)["error"]
    store.create(replace(store.load(), status="waiting", **with_tests(project)), overwrite=True)
    typed(project, "/ship refuse no")
    store.create(replace(store.load(), **with_tests(project, "false\n")), overwrite=True)
    assert "has changed since" in ship("refuse", code=1)["error"]


def test_a_budget_that_the_person_names_is_kept(project: Path) -> None:
    repository(project)
    typed(project, "/ship Greet people --budget-usd 3")
    ship("begin")
    loop = loop_of(project)
    assert (loop.budget_limit_usd, loop.enforce_budget) == (3, True)


def test_in_a_worktree_no_feature_begins_as_its_commits_are_not_in_the_checkout(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(project)
    sh(project, "worktree", "add", "-q", str(project / ".claude" / "worktrees" / "w"))
    monkeypatch.chdir(project / ".claude" / "worktrees" / "w")
    typed(project, "/ship Greet people")
    assert "worktree" in ship("begin", code=1)["error"]
    assert not (project / ".claude" / "autonomous-loop.json").exists()


def test_a_loop_that_is_over_in_a_folder_above_is_not_in_the_way_of_another_repository(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipping(project, status="completed")
    inner = project / "inner"
    inner.mkdir()
    repository(inner)
    monkeypatch.chdir(inner)
    begun = ship("begin", "--feature", "Greet people")
    assert begun["file"] == str(inner / ".claude" / "autonomous-loop.json")
    assert loop_of(project).status == "completed"


# --- the rest ----------------------------------------------------------------------------------------------------


def test_what_did_not_work_is_noted_down_for_whoever_comes_next(project: Path) -> None:
    shipping(project, phase="work")
    told = ship("checkpoint", "--summary", "half of it", "--failed", "with a regular expression")
    assert told["noted_in"] == "docs/progress.md"
    loop = loop_of(project)
    assert loop.checkpoints[-1].failed_approaches == ("with a regular expression",)
    where = ship("status")["where"]
    assert "half of it" in where
    assert "with a regular expression" in where


def test_without_a_loop_the_status_says_how_one_begins() -> None:
    told = ship("status")
    assert (told["exists"], "/aot-loop:ship FEATURE" in told["next"]) == (False, True)


def test_to_cancel_needs_nobody_and_is_final(project: Path) -> None:
    shipping(project)
    assert ship("cancel", "--reason", "enough")["status"] == "cancelled"
    assert loop_of(project).stop_reason == "user: enough"
    assert ended(project, "more") == {"decision": "approve"}
    assert done(project, "plan", code=1)["success"] is False


@pytest.mark.parametrize("words", [(), ("dance",), ("receipt",), ("checkpoint",), ("begin",), ("status", "--wrong")])
def test_a_command_line_that_is_not_understood_says_what_would_be(project: Path, words: tuple[str, ...]) -> None:
    repository(project)
    assert "usage" in ship(*words, code=2)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": 2}', b"\xff\xfe"])
def test_a_file_that_cannot_be_understood_is_left_as_it_is(project: Path, content: bytes) -> None:
    path = project / ".claude" / "autonomous-loop.json"
    path.write_bytes(content)
    for words in (("status",), ("begin", "--feature", "x"), ("cancel",)):
        assert ship(*words, code=1)["success"] is False
    assert path.read_bytes() == content


# --- work as a loop of its own -----------------------------------------------------------------------------------


def test_the_steps_of_the_plan_become_a_loop_that_the_session_enters(project: Path) -> None:
    repository(project)
    write(project, {"docs/plan.md": PLAN})
    tests = with_tests(project)
    planned = replace(tests["artifacts"], plan_file="docs/plan.md")
    shipping(project, phase="work", no_graph=False, **{**tests, "artifacts": planned})
    assert "not accepted" in ship("work", code=1)["error"]
    accepted(project)
    made = ship("work")
    assert (made["made"], made["atoms"], made["commands"]) == (True, ["A1", "A2"], [f"sh {TESTS}"])
    assert call("enter_loop")["status"] == "running"
    again = ship("work")
    assert (again["made"], again["loop_status"]) == (False, "running")
    state = call("read_state")
    assert [(atom["id"], atom["depends_on"]) for atom in state["atoms"]] == [("A1", []), ("A2", ["A1"])]
    assert TESTS in state["objective"]["protect"]


@pytest.mark.parametrize("more", [{"phase": "plan"}, {"phase": "work", "status": "stopped"}])
def test_where_there_is_no_work_no_loop_is_made(project: Path, more: dict[str, Any]) -> None:
    shipping(project, **more)
    assert "no such work" in ship("work", code=1)["error"]


def test_without_a_graph_the_session_does_it_itself(project: Path) -> None:
    repository(project)
    shipping(project, phase="work", **with_tests(project))
    told = ship("work")
    assert (told["made"], told["state_file"]) == (False, None)
    assert "Do it yourself" in told["next"]
