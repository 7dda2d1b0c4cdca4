"""From what a client tells to the state file and back, in this process."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.hooks import entry as running
from aotloop.hooks.entry import run
from aotloop.statefile import durable
from aotloop.statefile.lease import lease
from aotloop.statefile.reader import decode
from aotloop.trust.accepted_commands import digest_of, is_trusted
from tests.hooks.situations import SESSION, driven, judged, written_with_our_verdict
from tests.loops import atom, write_loop

NOBODY = 65534


def stop(path: Path, event: str = "Stop", **told: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(event, {"session_id": SESSION, **told}, str(path)))
    return answer


def loop_in(path: Path) -> Loop:
    return decode(path.read_bytes())


def test_a_stop_is_decided_and_written(project: Path) -> None:
    path = write_loop(project, driven(atom("A1")))
    assert stop(path)["decision"] == "block"
    assert loop_in(path).control.iteration == 1


def test_an_approval_is_an_empty_object_for_codex(project: Path) -> None:
    path = write_loop(project, driven(status="stopped"))
    assert stop(path) == {"decision": "approve"}
    assert stop(path, turn_id="t1") == {}


def test_a_verdict_that_only_the_file_knows_completes_nothing(project: Path) -> None:
    path = write_loop(project, judged(driven(atom("A1", status="resolved")), passed=True, commit=None))
    answer = stop(path)
    assert answer["decision"] == "block"
    assert "verify_checklist.py" in answer["reason"]
    assert loop_in(path).control.status == "running"


@pytest.mark.parametrize("is_at_head", [True, False])
def test_a_verdict_completes_the_loop_only_at_the_commit_that_is_checked_out(project: Path, is_at_head: bool) -> None:
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(project)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    path = written_with_our_verdict(project, judged(driven(), passed=True, commit=head))
    if not is_at_head:
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "more"], check=True)
    stop(path)
    assert loop_in(path).control.status == ("completed" if is_at_head else "running")


@pytest.mark.parametrize(
    "content",
    [b"", b"---\n---\n", b"no front matter", b"\xff\xfe\x00", b"---\nobjective: [\n---\n", b"---\ncontrol: 7\n---\n"],
)
@pytest.mark.parametrize("event", list(running.HOOKS))
def test_a_file_that_is_not_valid_harms_nobody_and_stays_as_it_is(project: Path, content: bytes, event: str) -> None:
    path = project / ".claude" / "aot-loop-state.md"
    path.write_bytes(content)
    told = {"prompt": "/enter-recursion", "tool_name": "Write", "tool_input": {"file_path": str(path)}}
    assert stop(path, event, **told) == {}
    assert path.read_bytes() == content


def test_a_file_that_is_gone_harms_nobody(project: Path) -> None:
    assert stop(project / ".claude" / "aot-loop-state.md") == {}


def test_windows_line_ends_are_kept(project: Path) -> None:
    path = write_loop(project, driven(atom("A1")))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert stop(path)["decision"] == "block"
    assert loop_in(path).control.iteration == 1
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


@pytest.fixture
def somebody_elses() -> Iterator[Path]:
    """A loop in a folder that whoever runs this cannot write to, as root could."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = write_loop(Path(folder), driven(atom("A1")))
        before = os.geteuid()
        path.parent.chmod(0o555)
        if before == 0:
            os.seteuid(NOBODY)
        try:
            yield path
        finally:
            os.seteuid(before)
            path.parent.chmod(0o755)


def test_a_folder_that_cannot_be_written_to_harms_nobody(somebody_elses: Path) -> None:
    with pytest.raises(OSError, match="ermission"):
        (somebody_elses.parent / "new").touch()
    assert stop(somebody_elses) == {}
    assert loop_in(somebody_elses).control.iteration == 0


def test_what_cannot_be_written_is_not_answered_either(project: Path) -> None:
    """Something that is no file is where the new one is written."""
    path = write_loop(project, driven(atom("A1")))
    Path(durable.beside(str(path), "tmp")).mkdir()
    assert stop(path) == {}
    assert loop_in(path).control.iteration == 0


def test_a_lock_that_is_held_for_long_is_not_waited_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATIENCE", 0.05)
    path = write_loop(project, driven(atom("A1")))
    with durable.locked(str(path)):
        assert stop(path) == {}
    assert loop_in(path).control.iteration == 0


def test_while_a_process_runs_the_loop_the_session_that_had_it_is_none_of_ours(project: Path) -> None:
    path = write_loop(project, driven(atom("A1")))
    with lease(str(path)):
        assert stop(path) == {}
        assert stop(path, "UserPromptSubmit", prompt="/enter-recursion take-over", session_id="other") == {}
    assert loop_in(path).control.iteration == 0
    assert loop_in(path).control.session_id == SESSION


def test_a_prompt_binds_the_loop(project: Path) -> None:
    path = write_loop(project, driven(status="pending", session_id=None))
    assert stop(path, "UserPromptSubmit", prompt="/aot-loop:enter-recursion") == {}
    assert loop_in(path).control.session_id == SESSION


@pytest.mark.parametrize("is_right", [True, False])
def test_commands_are_accepted_by_what_a_person_types(project: Path, is_right: bool) -> None:
    path = write_loop(project, driven(status="pending"))
    commands = commands_of(loop_in(path))
    digest = digest_of(str(path), commands) if is_right else "0" * 16
    answer = stop(path, "UserPromptSubmit", prompt=f"/aot-loop:enter-recursion accept {digest}")
    assert is_trusted(str(path), commands) is is_right
    assert ("additionalContext" in json.dumps(answer)) is not is_right


def test_a_start_and_a_compaction_are_told_about_the_loop(project: Path) -> None:
    path = write_loop(project, driven())
    assert "It works" in stop(path, "SessionStart")["hookSpecificOutput"]["additionalContext"]
    assert run("PreCompact", {"session_id": SESSION}, str(path)).startswith(b"Keep in the summary")


def test_a_tool_that_writes_the_file_or_what_is_protected_is_denied(project: Path) -> None:
    loop = driven()
    loop.objective = replace(loop.objective, protect=("tests/**",))
    path = write_loop(project, loop)
    answers = [
        stop(path, "PreToolUse", tool_name="Write", cwd=str(project), tool_input={"file_path": one})
        for one in (str(path), "tests/a.py", "src/a.py")
    ]
    assert [bool(one) for one in answers] == [True, True, False]
    assert {one["hookSpecificOutput"]["permissionDecision"] for one in answers if one} == {"deny"}


def test_who_only_looks_does_not_write_even_where_there_is_no_loop() -> None:
    told = {"session_id": "x", "tool_name": "Write", "agent_type": "aot-loop:probe"}
    assert "deny" in run("PreToolUse", told, None).decode()


@pytest.mark.parametrize("event", list(running.HOOKS))
def test_without_a_loop_there_is_nothing_to_say(event: str) -> None:
    assert run(event, {"session_id": "x", "prompt": "/enter-recursion"}, None) == b"{}\n"
