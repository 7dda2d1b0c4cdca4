"""request_stop: asking a running loop to end."""

from __future__ import annotations

from typing import Any

from aotloop import app
from aotloop.core import events
from aotloop.scripts.arguments import Option, Usage
from aotloop.scripts.output import Script


def _request_stop(given: dict[str, Any]) -> dict[str, Any]:
    app.apply(app.open_store(given["state_file"]), events.StopRequested(reason=given["reason"]))
    return {"success": True, "stop_requested": True, "reason": given["reason"]}


REQUEST_STOP = Script(
    Usage("Ask the running loop to stop; nothing is lost.", (), {"--reason": Option()}), _request_stop
)
