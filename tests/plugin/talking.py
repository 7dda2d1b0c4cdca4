"""A person at the other end of Claude Code: says one thing after the other, and answers what is asked."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.modelserver.clients import Finished, Launch, running
from tests.patience import PATIENCE

Events = Sequence[Mapping[str, Any]]


def is_idle(events: Events) -> bool:
    """The turn has ended, and nothing runs in the background any more."""
    changes = [event for event in events if event.get("subtype") == "background_tasks_changed"]
    return has_ended_a_turn(events) and not (changes and changes[-1]["tasks"])


def has_ended_a_turn(events: Events) -> bool:
    """Agents may still run in the background: for what is said in mid-loop."""
    return bool(events[-1]["type"] == "result")


@dataclass(frozen=True, kw_only=True)
class Line:
    text: str
    once: Callable[[Events], bool] = is_idle
    """Asked at every event since the line before was said; the first line does not wait."""


def talked(launch: Launch, cwd: Path, lines: Sequence[str | Line], answers: Mapping[str, str]) -> Finished:
    """Until all is said, and the client idle after that. A question without an answer is a fault of the test."""
    script = [line if isinstance(line, Line) else Line(text=line) for line in lines]
    events: list[dict[str, Any]] = []
    with running(launch, cwd) as process:
        patience = threading.Timer(PATIENCE, process.kill)
        patience.start()
        _say(process, script.pop(0).text)
        assert process.stdout is not None
        heard = 0
        for text in process.stdout:
            event = json.loads(text)
            events.append(event)
            if event["type"] == "control_request":
                _answer(process, event, answers)
            elif script and script[0].once(events[heard:]):
                heard = len(events)
                _say(process, script.pop(0).text)
            elif not script and is_idle(events[heard:]):
                break
        _, errors = process.communicate(timeout=PATIENCE)
        patience.cancel()
    return Finished(code=process.returncode, events=events, errors=errors)


def _say(process: subprocess.Popen[str], text: str) -> None:
    _send(process, {"type": "user", "message": {"role": "user", "content": text}})


def _answer(process: subprocess.Popen[str], event: Mapping[str, Any], answers: Mapping[str, str]) -> None:
    """To `AskUserQuestion`. Anything else that wants a permission gets it."""
    asked = event["request"].get("input", {})
    given = {one["question"]: answers[one["question"]] for one in asked.get("questions", ())}
    allowed = {"behavior": "allow", "updatedInput": {**asked, **({"answers": given} if given else {})}}
    response = {"subtype": "success", "request_id": event["request_id"], "response": allowed}
    _send(process, {"type": "control_response", "response": response})


def _send(process: subprocess.Popen[str], message: Mapping[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
