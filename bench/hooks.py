"""The cost of hooks in a session, from start to end of the process, against an interpreter that does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from bench.files import state_file
from bench.measure import Row, environment_of_a_user, in_turn

ROUNDS = 41
HOOK = Path(__file__).parent.parent / "plugin" / "hooks" / "aot_hook.py"
SESSION = "5f0c6e0e-7a9b-4d0c-9f55-0a1b2c3d4e5f"
WORDS = {"tool_name": "Bash", "tool_input": {"command": "make test", "description": "tests"}}

GOALS = {"full decision, 20 atoms": 5, "full decision, 1,000 atoms": 5, "full decision, a feature": 6}


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        nowhere, small, large, phases = (Path(folder, name) for name in ("nowhere", "small", "large", "phases"))
        nowhere.mkdir()
        small_file, large_file, phase_file = _loop(small, 20), _loop(large, 1_000), _feature(phases)
        calls: dict[str, tuple[str, Path, dict[str, Any]]] = {
            "no state file": ("Stop", nowhere, {}),
            "another session": ("Stop", small, {"session_id": "another"}),
            "a worker stops": ("SubagentStop", small, {"agent_type": "aot-loop:worker", "agent_id": "a"}),
            "a command of the session": ("PreToolUse", small, WORDS),
            "a command, 1,000 atoms": ("PreToolUse", large, WORDS),
            "full decision, 20 atoms": ("Stop", small, {}),
            "full decision, 1,000 atoms": ("Stop", large, {}),
            "a command while a feature is shipped": ("PreToolUse", phases, WORDS),
            "full decision, a feature": ("Stop", phases, {}),
        }
        before = {path: path.read_bytes() for path in (small_file, large_file, phase_file)}

        def calling(event: str, cwd: Path, more: dict[str, Any]) -> None:
            told = json.dumps({"session_id": SESSION, "cwd": str(cwd), "hook_event_name": event, **more})
            _run([sys.executable, "-I", "-S", str(HOOK), event], cwd, told)

        def decide(path: Path, call: tuple[str, Path, dict[str, Any]]) -> None:
            calling(*call)
            path.write_bytes(before[path])  # microseconds; else the loop would end by its limits

        contenders: dict[str, Callable[[], None]] = {name: partial(calling, *call) for name, call in calls.items()}
        contenders["full decision, 20 atoms"] = lambda: decide(small_file, calls["full decision, 20 atoms"])
        contenders["full decision, 1,000 atoms"] = lambda: decide(large_file, calls["full decision, 1,000 atoms"])
        contenders["full decision, a feature"] = lambda: decide(phase_file, calls["full decision, a feature"])
        contenders["bare"] = lambda: _run([sys.executable, "-I", "-c", "pass"], nowhere, "")
        medians = in_turn(contenders, ROUNDS, median)
    for name in calls:
        goal = GOALS.get(name, 2)
        yield Row(f"hook: {name} / python -I -c pass", medians[name], medians["bare"], f"goal: at most {goal}", "other")


def _loop(project: Path, atoms: int) -> Path:
    """In a repository, driven by the session."""
    path = project / ".claude" / "aot-loop-state.md"
    path.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    bound = f"  redirect_requested: false\n  session_id: {SESSION}\n".encode()
    path.write_bytes(state_file(atoms).replace(b"  redirect_requested: false\n", bound))
    return path


def _feature(project: Path) -> Path:
    path = project / ".claude" / "autonomous-loop.json"
    path.parent.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    at = "2026-01-01T00:00:00Z"
    loop = {"version": 2, "feature": "Greet", "phase": "plan", "started_at": at, "last_updated": at}
    path.write_text(json.dumps({**loop, "session_id": SESSION}))
    return path


def _run(command: list[str], cwd: Path, told: str) -> None:
    environment = environment_of_a_user()
    subprocess.run(command, cwd=cwd, env=environment, input=told.encode(), check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    for row in rows():
        print(row.line())
