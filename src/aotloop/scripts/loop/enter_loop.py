"""enter_loop: a session takes a loop and starts it."""

from __future__ import annotations

from typing import Any

from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.session.enter import enter
from aotloop.scripts.arguments import Option, Usage, UsageError, session_told
from aotloop.scripts.json_output import Script


def _enter_loop(given: dict[str, Any]) -> dict[str, Any]:
    session = given["session"] or session_told()
    if session is None:
        raise UsageError("which session? The client did not say; name it with --session")
    entered = enter(open_store(given["state_file"]), session, take_over=given["take_over"], timeout=given["timeout"])
    return {
        "success": True,
        "status": entered.status,
        "session_id": session,
        "run_id": entered.run_id,
        "was_running": entered.was_running,
        "holding": list(entered.holding),
        "failing": entered.failing,
        "waiting": entered.waiting,
        "warnings": list(entered.warnings),
    }


ENTER_LOOP = Script(
    Usage(
        "Bind the loop to this session and start it: gate, consent, red first. --take-over only if the person said so.",
        (),
        {"--session": Option(), "--take-over": Option(None), "--timeout": Option(float, CHECK_TIMEOUT)},
    ),
    _enter_loop,
)
