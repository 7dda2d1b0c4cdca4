"""The hook as clients start it: quick where it is none of ours, and never in anybody's way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.errors import StateFileMissing
from aotloop.hooks.coordinator import NOTICE, STARTING, STOPPING
from aotloop.hooks.entry import HOOKS
from aotloop.hooks.pre_tool_use import PATCH, PATH_KEYS, SHELL
from aotloop.statefile.locate import find_state_file
from aotloop.statefile.reader import decode
from tests.hooks.shim import HOOK, call, process, quick
from tests.hooks.situations import SESSION, driven
from tests.loops import atom, write_loop
from tests.scripts.calling import PLUGIN

aot_quick = quick()

BARE = os.path.realpath(sys.executable)
"""The interpreter behind the virtual environment: it has nothing of ours installed."""


def test_a_whole_decision(project: Path) -> None:
    path = write_loop(project, driven(atom("A1")))
    answer = call("Stop", project)
    assert answer["decision"] == "block"
    assert "A1" in answer["reason"]
    assert decode(path.read_bytes()).control.iteration == 1


def test_exactly_one_iteration_for_each_stop_of_the_coordinator(project: Path) -> None:
    path = write_loop(project, driven(atom("A1"), atom("A2")))
    for number in range(3):
        assert call("SubagentStop", project, agent_type="aot-loop:worker", agent_id=f"w{number}") == {}
    assert decode(path.read_bytes()).control.iteration == 0
    assert call("SubagentStop", project, agent_type="aot-loop:coordinator", agent_id="c")["decision"] == "block"
    assert decode(path.read_bytes()).control.iteration == 1


def test_the_client_s_cap_is_heard(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1")
    write_loop(project, driven(atom("A1")))
    assert [call("Stop", project)["decision"] for _ in range(2)] == ["block", "approve"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff\xfe",
        b"null",
        b"[]",
        b'"text"',
        b"{",
        b"{} {}",
        b'{"session_id": 7}',
        b'{"session_id": "\xff"}',
        b'{"session_id": null, "cwd": null}',
        b"[" * 100_000,
        b"\xef\xbb\xbf{}",
    ],
)
@pytest.mark.parametrize("event", ["Stop", "PreToolUse"])
def test_whatever_is_told_the_session_goes_on(project: Path, event: str, data: bytes) -> None:
    write_loop(project, driven())
    done = process(event, data, cwd=project)
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


@pytest.mark.parametrize("event", [*HOOKS, "SomethingNew"])
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"cwd": 7},
        {"agent_type": 7},
        {"tool_input": []},
        {"background_tasks": "x"},
        {"prompt": ["/enter-recursion"]},
        {"tool_name": ["Write"]},
    ],
)
def test_missing_and_strange_values_are_no_harm(project: Path, event: str, wrong: dict[str, Any]) -> None:
    path = write_loop(project, driven(status="stopped"))
    before = path.read_bytes()
    done = process(event, json.dumps({"session_id": SESSION, "cwd": str(project), **wrong}).encode())
    assert done.returncode == 0
    assert json.loads(done.stdout) in ({}, {"decision": "approve"})
    assert path.read_bytes() == before


def test_a_huge_call_is_answered(project: Path) -> None:
    write_loop(project, driven())
    content = "x" * 20_000_000
    assert call("PreToolUse", project, tool_name="Write", tool_input={"file_path": "a", "content": content}) == {}


def test_nobody_listening_is_no_error(project: Path) -> None:
    write_loop(project, driven())
    told = json.dumps({"session_id": SESSION, "cwd": str(project)})
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "Stop"], input=told.encode(), stdout=writing, stderr=-1, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


# --- quick -------------------------------------------------------------------------------------------------------

OURS = ("aotloop", "msgspec", "json", "re", "typing", "site", "aot_hand_over")


def imported(event: str, project: Path, **told: Any) -> list[str]:
    payload = json.dumps({"session_id": SESSION, "cwd": str(project), **told}).encode()
    done = process(event, payload, flags=("-X", "importtime"))
    assert done.stdout == b"{}\n"
    modules = [line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()]
    return [one for one in modules if one.partition(".")[0] in OURS]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("Stop", {"session_id": "another"}),
        ("Stop", {"session_id": ""}),
        ("SubagentStop", {"agent_type": "aot-loop:worker"}),
        ("SubagentStop", {"agent_type": ""}),
        ("UserPromptSubmit", {"prompt": "hello"}),
        ("UserPromptSubmit", {"prompt": "<task-notification>"}),
        ("SessionStart", {"session_id": "another"}),
        ("PreCompact", {"session_id": "another"}),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "/x"}}),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make test"}}),
        ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "/x/a.py", "content": "x"}}),
        ("PreToolUse", {"tool_name": "Write", "session_id": "another", "tool_input": {}}),
    ],
)
def test_what_is_none_of_ours_is_answered_with_nothing_imported(
    project: Path, event: str, told: dict[str, Any]
) -> None:
    write_loop(project, driven())
    assert imported(event, project, **told) == []


def test_without_a_state_file_nothing_is_imported(tmp_path: Path) -> None:
    assert imported("Stop", tmp_path) == imported("UserPromptSubmit", tmp_path, prompt="/enter-recursion") == []


@pytest.mark.parametrize(
    ("tool", "given_", "is_denied"),
    [
        ("Write", {"file_path": "{project}/.claude/aot-loop-state.md"}, True),
        ("Edit", {"file_path": "{project}/link"}, True),
        ("Bash", {"command": "rm .claude/aot-loop-state.md"}, True),
        ("Bash", {"command": "cat .claude/aot-loop-state.md"}, False),
        ("apply_patch", {"command": "*** Update File: .claude/aot-loop-state.md\n"}, True),
        ("apply_patch", {"command": "*** Update File: a.py\n"}, False),
    ],
)
def test_what_may_be_denied_is_looked_at(project: Path, tool: str, given_: dict[str, str], is_denied: bool) -> None:
    path = write_loop(project, driven())
    (project / "link").symlink_to(path)
    named = {key: value.replace("{project}", str(project)) for key, value in given_.items()}
    assert bool(call("PreToolUse", project, tool_name=tool, tool_input=named)) is is_denied


def test_what_is_protected_is_looked_at(project: Path) -> None:
    loop = driven()
    loop.objective = replace(loop.objective, protect=("tests/**",))
    write_loop(project, loop)
    denied = [
        bool(call("PreToolUse", project, tool_name="Write", tool_input={"file_path": str(project / one)}))
        for one in ("tests/a.py", "src/a.py")
    ]
    assert denied == [True, False]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_it_reads_as_json_does(value: Any) -> None:
    for text in (json.dumps(value), f"  {json.dumps(value, ensure_ascii=False, indent=1)}\n"):
        data = text.encode("utf-8", "surrogatepass")
        try:
            expected = repr(json.loads(data.decode("utf-8")))
        except UnicodeDecodeError:
            continue
        assert repr(aot_quick.parsed(data)) == expected


@pytest.mark.parametrize("where", ["top", "below", "worktree", "nowhere"])
def test_it_finds_the_same_file_as_everybody_else(tmp_path: Path, where: str) -> None:
    project = tmp_path / "project"
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(project)]
    (project / "a" / "b").mkdir(parents=True)
    (project / ".claude").mkdir()
    write_loop(project, driven())
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-f", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "begin"], check=True)
    tree = project / ".claude" / "worktrees" / "x"
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    start = str({"top": project, "below": project / "a" / "b", "worktree": tree, "nowhere": tmp_path}[where])
    try:
        expected: str | None = find_state_file(start=start, environ={})
    except StateFileMissing:
        expected = None
    assert aot_quick.loop_files(start, {}).get(aot_quick.STATE_FILE) == expected


def test_an_agent_that_went_elsewhere_is_known_by_its_project(project: Path, tmp_path: Path) -> None:
    path = write_loop(project, driven())
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    found = {aot_quick.STATE_FILE: str(path)}
    assert aot_quick.loop_files(str(tmp_path), environ) == found
    assert aot_quick.loop_files(None, {"AOT_STATE_FILE": str(path)}) == found
    assert aot_quick.loop_files(str(project), {"AOT_STATE_FILE": "/nowhere"}) == {}


# --- the installation --------------------------------------------------------------------------------------------


def test_an_interpreter_without_our_packages_decides_too(project: Path) -> None:
    write_loop(project, driven(atom("A1")))
    done = process("Stop", json.dumps({"session_id": SESSION, "cwd": str(project)}).encode(), python=BARE)
    assert json.loads(done.stdout)["decision"] == "block"


def test_a_plugin_that_was_copied_away_hands_over_to_the_interpreter_of_the_command(
    project: Path, tmp_path: Path
) -> None:
    write_loop(project, driven(atom("A1")))
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    told = {"session_id": SESSION, "cwd": str(project), "last_assistant_message": "x" * 1_000_000}
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": os.environ["HOME"]}
    hook = copy / "hooks" / "aot_hook.py"
    done = process("Stop", json.dumps(told).encode(), python=BARE, hook=hook, env=env)
    assert json.loads(done.stdout)["decision"] == "block"


def test_without_any_installation_one_line_says_how_to_get_it(project: Path, tmp_path: Path) -> None:
    path = write_loop(project, driven(atom("A1")))
    before = path.read_bytes()
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    told = json.dumps({"session_id": SESSION, "cwd": str(project)}).encode()
    env = {"PATH": "/nowhere", "HOME": os.environ["HOME"]}
    done = process("Stop", told, python=BARE, hook=copy / "hooks" / "aot_hook.py", env=env)
    assert (done.returncode, done.stdout) == (0, b"{}\n")
    assert done.stderr.startswith(b"aot-loop: aotloop is not installed")
    assert len(done.stderr.splitlines()) == 1
    assert path.read_bytes() == before


# --- what the client is told to call -----------------------------------------------------------------------------


def test_hooks_json_calls_every_hook_and_no_other() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) == set(HOOKS)
    for event, ((entry,)) in hooks.items():
        (handler,) = entry["hooks"]
        assert handler["command"] == f'python3 -I -S "${{CLAUDE_PLUGIN_ROOT}}/hooks/aot_hook.py" {event}'
        assert 5 <= handler["timeout"] <= 30


def test_the_client_asks_about_exactly_the_tools_and_agents_that_are_looked_at() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    tools = {*PATH_KEYS, PATCH, SHELL}
    assert set(hooks["PreToolUse"][0]["matcher"].split("|")) == {*tools, *STARTING}
    assert {*aot_quick.WRITING, aot_quick.SHELL} == tools
    for event in ("SubagentStart", "SubagentStop"):
        assert hooks[event][0]["matcher"] == f"^{aot_quick.COORDINATOR}$"
    for event in ("PostToolUse", "PostToolUseFailure"):
        assert set(hooks[event][0]["matcher"].split("|")) == {*aot_quick.STARTING, *aot_quick.STOPPING}
    assert (aot_quick.STARTING, aot_quick.STOPPING) == (STARTING, STOPPING)
    assert aot_quick.NOTICE == NOTICE


@pytest.mark.parametrize("command", ["align-goal", "redirect", "loop-status", "enter-recursion", "ship-status"])
def test_codex_is_told_where_the_plugin_is_because_it_replaces_no_path(tmp_path: Path, command: str) -> None:
    told = call("UserPromptSubmit", tmp_path, prompt=f"$aot-loop:source-command-{command} x", turn_id="t1")
    assert f"${{CLAUDE_PLUGIN_ROOT}} is {PLUGIN}" in told["hookSpecificOutput"]["additionalContext"]
    assert "CLAUDE_PLUGIN_ROOT" not in str(call("UserPromptSubmit", tmp_path, prompt=f"/aot-loop:{command} x"))
