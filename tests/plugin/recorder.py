"""A hook that writes down what it is told and answers as a test wants, beside the hooks under test or instead of them.

The same file serves Claude Code and Codex. Replies can be changed between two runs, and are counted over both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_LONGEST = {"Interrupt": 3}
"""Seconds. Codex shortens a longer time, and tells that among its events."""
_HOOK = """
import json, os, sys, time
from pathlib import Path
here = Path(__file__).parent
told = json.loads(sys.stdin.buffer.read())
line = json.dumps({"told": told, "environ": dict(os.environ)}) + "\\n"
log = os.open(here / "calls.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
os.write(log, line.encode())  # in one piece: hooks run at the same time
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
    """To calls whose input has all of `when`. The first that fits and has not been given `times` times is given."""

    when: Mapping[str, Any]
    stdout: str = ""
    stderr: str = ""
    code: int = 0
    seconds: float = 0.0
    times: int | None = None


def says(value: Mapping[str, Any], times: int | None = None, **when: Any) -> Reply:
    return Reply(when=when, stdout=json.dumps(value), times=times)


def permitted() -> Reply:
    """A person's yes to whatever the client asks. The client tells each question once, so they can be counted."""
    event = "PermissionRequest"
    decision = {"hookEventName": event, "decision": {"behavior": "allow"}}
    return says({"hookSpecificOutput": decision}, hook_event_name=event)


@dataclass(frozen=True, kw_only=True)
class Payload:
    """One call of a hook."""

    event: str
    input: Mapping[str, Any]
    environ: Mapping[str, str] = field(repr=False)


class Recorder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hook.py").write_text(_HOOK)
        self.reply()

    def reply(self, *replies: Reply) -> None:
        (self.folder / "replies.json").write_text(json.dumps([asdict(reply) for reply in replies]))

    def hooks(self, events: Sequence[str], timeout: int = 30) -> dict[str, Any]:
        """What a hooks.json has to hold, so that each of these events is told."""
        command = f'"{sys.executable}" -I "{self.folder / "hook.py"}"'
        handler = {"type": "command", "command": command}
        longest = {event: min(timeout, _LONGEST.get(event, timeout)) for event in events}
        return {"hooks": {event: [{"hooks": [handler | {"timeout": longest[event]}]}] for event in events}}

    def told(self, event: str, **having: Any) -> list[Mapping[str, Any]]:
        """The inputs of that event's calls until now, in order, that have these values."""
        inputs = [call.input for call in self.calls if call.event == event]
        return [one for one in inputs if all(one.get(key) == value for key, value in having.items())]

    @property
    def calls(self) -> list[Payload]:
        log = self.folder / "calls.jsonl"
        lines = log.read_text().rpartition("\n")[0].splitlines() if log.exists() else []
        return [
            Payload(event=one["told"]["hook_event_name"], input=one["told"], environ=one["environ"])
            for one in map(json.loads, lines)
        ]
