"""set_status, request_stop, verify_checklist: a loop starts, stops, or is found to be done."""

from __future__ import annotations

from typing import Any

from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.preflight.gate import start_by_hand
from aotloop.app.run.stop import request_stop, stop_by_hand
from aotloop.app.session.session_verification import complete_in_session, verify_in_session
from aotloop.scripts.arguments import Option, Usage, UsageError
from aotloop.scripts.json_output import Script

LOOP_STATUSES = ("running", "stopped", "completed")


def _set_status(given: dict[str, Any]) -> dict[str, Any]:
    status, reason = given["status"], given["reason"]
    if status not in LOOP_STATUSES:
        raise UsageError(f"status cannot be {status!r}; it is one of {', '.join(LOOP_STATUSES)}")
    store = open_store(given["state_file"])
    if status == "running":
        start_by_hand(store)
    elif status == "stopped":
        stop_by_hand(store, reason)
    else:
        complete_in_session(store)
    return {"success": True, "status": status, "reason": reason}


def _request_stop(given: dict[str, Any]) -> dict[str, Any]:
    request_stop(open_store(given["state_file"]), given["reason"])
    return {"success": True, "stop_requested": True, "reason": given["reason"]}


def _verify_checklist(given: dict[str, Any]) -> dict[str, Any]:
    done = verify_in_session(open_store(given["state_file"]), timeout=given["timeout"])
    data: dict[str, Any] = done.report.as_data()
    return data if done.unrecorded is None else {**data, "unrecorded": done.unrecorded}


SET_STATUS = Script(
    Usage(
        "Start, stop or complete the loop; completing runs the base case.",
        ("status",),
        {"--reason": Option()},
    ),
    _set_status,
)
REQUEST_STOP = Script(
    Usage("Ask the running loop to stop; nothing is lost.", (), {"--reason": Option()}), _request_stop
)
VERIFY_CHECKLIST = Script(
    Usage("Evaluate the whole base case and record the verdict.", (), {"--timeout": Option(float, CHECK_TIMEOUT)}),
    _verify_checklist,
    verdict="passed",
)
