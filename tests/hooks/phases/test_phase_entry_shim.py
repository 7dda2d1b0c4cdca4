"""A session that ships a feature, through the hook as clients start it; beside a loop of atoms, or alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import StateFileMissing
from aotloop.hooks.entry import HOOKS, run
from aotloop.statefile import durable
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import find_phase_file
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.statefile.reader import decode
from tests.git.checkouts import sh
from tests.hooks.features import TESTS, a_feature, repository, shipping, with_tests
from tests.hooks.shim import call, process, quick
from tests.hooks.situations import SESSION, driven, judged, written_with_our_verdict
from tests.hooks.test_entry_shim import imported
from tests.loops import atom, write_loop

aot_quick = quick()


def loop_in(project: Path) -> PhaseLoop:
    return PhaseStore(str(project / ".claude" / "autonomous-loop.json")).load()


def told(event: str, project: Path, *, atoms: bool = False, **more: Any) -> dict[str, Any]:
    """In this process, with the files that the shim would name."""
    phases = project / ".claude" / "autonomous-loop.json"
    state = str(project / ".claude" / "aot-loop-state.md") if atoms else None
    payload = {"session_id": SESSION, "cwd": str(project), **more}
    answer: dict[str, Any] = json.loads(run(event, payload, state, str(phases)))
    return answer


def test_a_whole_decision(project: Path) -> None:
    shipping(project)
    answer = call("Stop", project)
    assert answer["decision"] == "block"
    assert "Write a plan" in answer["reason"]
    assert loop_in(project).global_iteration == 1


def test_the_instruction_names_the_script_where_the_client_tells_the_plugin_s_place(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/somewhere/plugin")
    shipping(project)
    assert "`python3 /somewhere/plugin/skills/phase-loop/scripts/ship.py receipt " in told("Stop", project)["reason"]


def test_a_session_that_does_nothing_is_let_go_in_a_part_of_a_repository_too(project: Path) -> None:
    repository(project)
    part = project / "part"
    part.mkdir()
    PhaseStore(str(part / ".claude" / "autonomous-loop.json")).create(
        a_feature(started_at="2999-01-01T00:00:00Z", phase_started_at="2999-01-01T00:00:00Z", phase_iteration=6)
    )
    assert told("Stop", part)["decision"] == "approve"
    assert (loop_in(part).stop_reason or "").startswith("stalled")


def test_a_feature_is_heard_before_there_is_a_file(project: Path) -> None:
    answer = call("UserPromptSubmit", project, prompt="/aot-loop:ship Add login")
    assert "noted down" in answer["hookSpecificOutput"]["additionalContext"]
    assert not (project / ".claude" / "autonomous-loop.json").exists()


def test_a_start_and_a_compaction_are_told_about_the_loop(project: Path) -> None:
    shipping(project, phase="work")
    answer = call("SessionStart", project, source="compact")
    assert "Phase: work (5 of 11)" in answer["hookSpecificOutput"]["additionalContext"]
    done = process("PreCompact", json.dumps({"session_id": SESSION, "cwd": str(project)}).encode())
    assert done.stdout.startswith(b"Keep in the summary that this session ships a feature")


# --- none of ours ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("Stop", {"session_id": "another"}),
        ("Stop", {"agent_type": ""}),
        ("SubagentStop", {"agent_type": "aot-loop:coordinator"}),
        ("SubagentStop", {"agent_type": "aot-loop:worker"}),
        ("UserPromptSubmit", {"prompt": "ship it"}),
        ("SessionStart", {"session_id": "another"}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make test"}}),
        ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "/x/a.py", "content": "x"}}),
    ],
)
def test_what_is_none_of_ours_is_answered_with_nothing_imported(
    project: Path, event: str, more: dict[str, Any]
) -> None:
    shipping(project)
    assert imported(event, project, **more) == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"version": 2}', b'{"version": 9, "x": "%s"}'])
@pytest.mark.parametrize("event", list(HOOKS))
def test_a_file_that_cannot_be_understood_frees_the_session_and_stays_as_it_is(
    project: Path, event: str, content: bytes
) -> None:
    path = project / ".claude" / "autonomous-loop.json"
    path.write_bytes(content + SESSION.encode())
    before = path.read_bytes()
    more: dict[str, Any] = {"prompt": "/ship approve", "tool_name": "Write", "tool_input": {"file_path": str(path)}}
    assert told(event, project, last_assistant_message="<promise>SHIPPED</promise>", **more) == {}
    assert path.read_bytes() == before


def test_a_broken_file_of_one_kind_does_not_keep_the_other_from_being_heard(project: Path) -> None:
    (project / ".claude" / "autonomous-loop.json").write_bytes(SESSION.encode())
    write_loop(project, driven(atom("A1")))
    assert "A1" in call("Stop", project)["reason"]
    (project / ".claude" / "aot-loop-state.md").write_bytes(SESSION.encode())
    (project / ".claude" / "autonomous-loop.json").unlink()
    shipping(project)
    assert "Write a plan" in call("Stop", project)["reason"]


def test_a_file_that_went_away_meanwhile_is_none_of_ours(tmp_path: Path) -> None:
    told = {"session_id": SESSION}
    assert aot_quick.is_ours("Stop", told, aot_quick.PHASE_FILE, str(tmp_path / "gone")) is False


def test_while_aot_ship_runs_the_loop_the_session_that_had_it_is_none_of_ours(project: Path) -> None:
    store = shipping(project)
    with lease(store.path):
        assert told("Stop", project) == {}
    assert loop_in(project).global_iteration == 0


def test_a_lock_that_is_held_for_long_is_not_waited_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aotloop.hooks.entry.PATIENCE", 0.05)
    store = shipping(project)
    with durable.locked(store.path):
        assert told("Stop", project) == {}
    assert loop_in(project).global_iteration == 0


def test_without_a_repository_a_promise_frees_the_session(project: Path) -> None:
    repository(project)
    shipping(project, phase="ship", **with_tests(project))
    (project / ".git").rename(project / "git")
    assert told("Stop", project, last_assistant_message="<promise>SHIPPED</promise>") == {}


@pytest.mark.parametrize("where", ["top", "below", "worktree", "nowhere"])
def test_it_finds_the_same_file_as_everybody_else(tmp_path: Path, where: str) -> None:
    project = tmp_path / "project"
    (project / "a" / "b").mkdir(parents=True)
    (project / ".claude").mkdir()
    shipping(project)
    sh(project, "add", "-f", ".")
    sh(project, "commit", "-q", "-m", "with the file")
    tree = project / ".claude" / "worktrees" / "x"
    sh(project, "worktree", "add", "-q", str(tree))
    start = str({"top": project, "below": project / "a" / "b", "worktree": tree, "nowhere": tmp_path}[where])
    try:
        expected: str | None = find_phase_file(start)
    except StateFileMissing:
        expected = None
    assert aot_quick.loop_files(start, {}).get(aot_quick.PHASE_FILE) == expected


# --- tools -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "is_denied"),
    [
        ("Write", {"file_path": "{project}/.claude/autonomous-loop.json"}, True),
        ("Edit", {"file_path": ".claude/autonomous-loop.json"}, True),
        ("Edit", {"file_path": "{project}/link"}, True),
        ("apply_patch", {"command": "*** Update File: .claude/autonomous-loop.json\n"}, True),
        ("Bash", {"command": "echo '{}' > .claude/autonomous-loop.json"}, True),
        ("Bash", {"command": "jq . .claude/autonomous-loop.json"}, False),
        ("Write", {"file_path": TESTS}, True),
        ("Write", {"file_path": "tests/acceptance/more_test.sh"}, True),
        ("apply_patch", {"command": f"*** Delete File: {TESTS}\n"}, True),
        ("Write", {"file_path": "tests/unit_test.sh"}, False),
        ("Bash", {"command": f"sh {TESTS}"}, False),
    ],
)
def test_the_file_is_changed_by_scripts_and_filed_tests_by_nobody(
    project: Path, tool: str, given: dict[str, str], is_denied: bool
) -> None:
    repository(project)
    store = shipping(project, phase="work", **with_tests(project))
    (project / "link").symlink_to(store.path)
    named = {key: value.replace("{project}", str(project)) for key, value in given.items()}
    answer = call("PreToolUse", project, tool_name=tool, tool_input=named)
    assert bool(answer) is is_denied
    if is_denied:
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    ("more", "is_denied"),
    [
        ({}, True),
        ({"status": "waiting"}, True),
        ({"status": "stopped"}, False),
        ({"session_id": "another"}, False),
        ({"receipts": ()}, False),
    ],
)
def test_they_are_kept_while_the_loop_runs_in_its_session(project: Path, more: dict[str, Any], is_denied: bool) -> None:
    repository(project)
    shipping(project, **{"phase": "spec_test", **with_tests(project), **more})
    assert bool(told("PreToolUse", project, tool_name="Write", tool_input={"file_path": TESTS})) is is_denied


def test_in_a_worktree_of_an_agent_they_are_kept_too(project: Path) -> None:
    repository(project)
    shipping(project, phase="work", **with_tests(project))
    tree = project / ".claude" / "worktrees" / "agent-x"
    sh(project, "worktree", "add", "-q", str(tree))
    answer = told(
        "PreToolUse",
        project,
        cwd=str(tree),
        agent_type="aot-loop:worker",
        tool_name="Write",
        tool_input={"file_path": str(tree / TESTS)},
    )
    assert "acceptance tests" in answer["hookSpecificOutput"]["permissionDecisionReason"]


# --- a loop of atoms inside of a phase ---------------------------------------------------------------------------


def test_while_the_loop_of_the_work_runs_it_decides_and_no_turn_of_the_phase_is_counted(project: Path) -> None:
    shipping(project, phase="work")
    write_loop(project, driven(atom("A1")))
    answer = told("Stop", project, atoms=True)
    assert "A1" in answer["reason"]
    assert "receipt" not in answer["reason"]
    assert loop_in(project).global_iteration == 0


def test_what_its_agents_still_do_is_waited_for(project: Path) -> None:
    shipping(project, phase="work")
    write_loop(project, driven(atom("A1")))
    tasks = [{"id": "a", "type": "subagent", "status": "running"}]
    assert told("Stop", project, atoms=True, background_tasks=tasks) == {"decision": "approve"}
    assert loop_in(project).global_iteration == 0


def test_while_a_person_changes_its_direction_the_phase_does_not_push_on(project: Path) -> None:
    shipping(project, phase="work")
    write_loop(project, driven(atom("A1"), redirect_requested=True))
    assert told("Stop", project, atoms=True) == {"decision": "approve"}
    assert loop_in(project).global_iteration == 0


def test_when_it_completes_the_phase_goes_on_in_the_same_breath(project: Path) -> None:
    repository(project)
    shipping(project, phase="work")
    head = sh(project, "rev-parse", "HEAD").strip()
    path = written_with_our_verdict(project, judged(driven(), passed=True, commit=head))
    answer = told("Stop", project, atoms=True)
    assert decode(path.read_bytes()).control.status == "completed"
    assert answer["decision"] == "block"
    assert answer["reason"].startswith("The loop is completed: the base case holds")
    assert "ship.py receipt" in answer["reason"]
    assert loop_in(project).global_iteration == 1


@pytest.mark.parametrize("control", [{"status": "stopped"}, {"session_id": "another"}])
def test_a_loop_of_atoms_that_does_not_run_here_is_passed_over(project: Path, control: dict[str, Any]) -> None:
    shipping(project, phase="work")
    write_loop(project, driven(atom("A1"), **control))
    assert "Build the feature" in told("Stop", project, atoms=True)["reason"]


def test_a_session_that_forgets_is_told_of_both(project: Path) -> None:
    shipping(project, phase="work")
    write_loop(project, driven(atom("A1")))
    text = told("SessionStart", project, atoms=True)["hookSpecificOutput"]["additionalContext"]
    assert text.index("Phase: work") < text.index("This session drives an AoT loop")


def test_each_of_both_keeps_what_is_its_own(project: Path) -> None:
    repository(project)
    shipping(project, phase="work", **with_tests(project))
    write_loop(project, driven(atom("A1")))
    files = (".claude/aot-loop-state.md", ".claude/autonomous-loop.json", TESTS, "a.py")
    answers = [
        bool(told("PreToolUse", project, atoms=True, tool_name="Write", tool_input={"file_path": one})) for one in files
    ]
    assert answers == [True, True, True, False]
