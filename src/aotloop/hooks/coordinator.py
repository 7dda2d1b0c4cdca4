"""One coordinator at a time: what starts one, what tells that it has ended, and what is refused while one runs.

An interactive client starts agents in the background. So a session goes on while its coordinator works, and forgets it
when it is compacted. The loop's file names the coordinator from the call that starts it until one of these events:

| event                                             | it has ended if                                           |
| ------------------------------------------------- | --------------------------------------------------------- |
| `SubagentStop` of the coordinator                  | it may end, and no agent works for it in the background   |
| `Stop` of the session                              | no agent of ours is in the client's list                  |
| `UserPromptSubmit` that begins with a notice       | the notice names it                                       |
| `PostToolUse` of `TaskStop`                        | it was the one that was stopped                           |
| `PostToolUse` of the call that started it          | the call did not start it in the background               |
| `SessionStart`, but not after a compaction         | always: agents do not survive the process of their client |
"""

from __future__ import annotations

from aotloop.core.events import CoordinatorChanged
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.hooks.answers import Allow, Answer, Deny
from aotloop.hooks.payload import COORDINATOR, Payload

STARTING = ("Agent", "Task")
STOPPING = ("TaskStop", "KillShell")
NOTICE = "<task-notification>"
_NAMED = "<task-id>"


def is_start(payload: Payload) -> bool:
    return payload.tool_name in STARTING and payload.tool_input.get("subagent_type") == COORDINATOR


def is_driven_by(payload: Payload, loop: Loop) -> bool:
    return (
        bool(payload.session_id) and payload.session_id == loop.control.session_id and loop.control.status == "running"
    )


def before_start(payload: Payload, loop: Loop) -> Answer:
    """Refuses a second coordinator. The call that is not refused is noted at once: two calls can come together."""
    if not is_driven_by(payload, loop):
        return Answer()
    running = loop.control.steering.coordinator
    if running and running != payload.tool_use_id:
        return Deny(
            reason=f"A coordinator of this loop runs already ({running}); a second one would do the same work again."
            " Start none. End your turn: you are notified when it ends. To replace it because the person changed the"
            f" direction, stop it first: TaskStop with task_id {running}."
        )
    if loop.control.stop_requested or loop.control.redirect_requested:
        wish = "to stop the loop" if loop.control.stop_requested else "to change the direction of the loop"
        return Deny(reason=f"The person asked {wish}. Start no coordinator until that is done.")
    advance(loop, CoordinatorChanged(agent=payload.tool_use_id or "a call that has no name"))
    return Answer()


def at_start(payload: Payload, loop: Loop) -> Answer:
    """`SubagentStart`. Clients also call it when an agent that waited continues."""
    if is_driven_by(payload, loop) and payload.agent_id:
        advance(loop, CoordinatorChanged(agent=payload.agent_id))
    return Answer()


def after_tool(payload: Payload, loop: Loop) -> Answer:
    """After a tool that starts or stops an agent."""
    running = loop.control.steering.coordinator
    if not running or payload.session_id != loop.control.session_id:
        return Answer()
    if is_start(payload):
        response = payload.tool_response if isinstance(payload.tool_response, dict) else {}
        if not response.get("isAsync"):
            advance(loop, CoordinatorChanged())
    elif payload.tool_name in STOPPING and running in payload.tool_input.values():
        advance(loop, CoordinatorChanged())
    return Answer()


def on_notice(payload: Payload, loop: Loop) -> Answer:
    running = loop.control.steering.coordinator
    named = payload.prompt.partition(_NAMED)[2].partition("<")[0].strip()
    if running and named == running and payload.session_id == loop.control.session_id:
        advance(loop, CoordinatorChanged())
    return Answer()


def on_session_start(payload: Payload, loop: Loop) -> None:
    if payload.source != "compact" and payload.session_id == loop.control.session_id:
        advance(loop, CoordinatorChanged())


def on_stop(payload: Payload, loop: Loop, answer: Answer) -> Answer:
    """After `answer` was decided for the coordinator, or for the session."""
    if not loop.control.steering.coordinator or payload.session_id != loop.control.session_id:
        return answer
    is_over = isinstance(answer, Allow) if payload.agent_type == COORDINATOR else payload.agent_type is None
    if is_over and payload.background_tasks is not None and not payload.ours_in_background():
        advance(loop, CoordinatorChanged())
    return answer
