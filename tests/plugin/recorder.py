"""A plugin that writes down what every hook of it is told, and answers as it was asked to: a spy beside the plugin under test."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

EVENTS = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
)

_HOOK = """
import json, os, sys, time
from pathlib import Path
here = Path(__file__).parent
told = json.loads(sys.stdin.buffer.read())
line = json.dumps({"told": told, "environ": dict(os.environ), "at": time.time()}) + "\\n"
log = os.open(here / "calls.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(log, line.encode())  # one write: hooks run at the same time
for number, reply in enumerate(json.loads((here / "replies.json").read_text())):
    if any(told.get(key) != value for key, value in reply["when"].items()):
        continue
    taken = here / f"taken-{number}"
    with taken.open("a") as times:
        times.write("x")
    if reply["times"] is not None and taken.stat().st_size > reply["times"]:
        continue
    time.sleep(reply["seconds"])
    sys.stdout.write(reply["stdout"])
    sys.stderr.write(reply["stderr"])
    sys.exit(reply["code"])
"""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """To the calls whose input has all of `when`; the first that fits and has `times` left is given."""

    when: Mapping[str, Any]
    stdout: str = ""
    stderr: str = ""
    code: int = 0
    seconds: float = 0.0
    times: int | None = None


def says(value: Mapping[str, Any], times: int | None = None, **when: Any) -> Reply:
    return Reply(when=when, stdout=json.dumps(value), times=times)


@dataclass(frozen=True, kw_only=True)
class Told:
    """One call of a hook."""

    event: str
    input: Mapping[str, Any]
    environ: Mapping[str, str] = field(repr=False)
    at: float


def hooks_of(folder: Path, events: Sequence[str] = EVENTS, timeout: int = 30) -> dict[str, Any]:
    """What hooks.json of either client takes."""
    command = {"type": "command", "command": f'"{sys.executable}" -I "{folder / "hook.py"}"', "timeout": timeout}
    return {"hooks": {event: [{"hooks": [command]}] for event in events}}


def install(folder: Path, replies: Sequence[Reply] = ()) -> None:
    """The hook itself; who is to call it is said by `hooks_of`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hook.py").write_text(_HOOK)
    (folder / "replies.json").write_text(json.dumps([asdict(reply) for reply in replies]))


def calls(folder: Path) -> list[Told]:
    log = folder / "calls.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    return [
        Told(event=one["told"]["hook_event_name"], input=one["told"], environ=one["environ"], at=one["at"])
        for one in map(json.loads, lines)
    ]
