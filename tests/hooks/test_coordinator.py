"""One coordinator at a time: a second one is refused as long as the first one runs, and not longer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aotloop.core.model import Loop, Steering
from aotloop.hooks.answers import Allow, Answer, Block, Context, Deny
from aotloop.hooks.coordinator import after_tool, at_start, before_start, on_notice, on_session_start, on_stop
from aotloop.hooks.payload import COORDINATOR, Payload
from aotloop.hooks.session_start import at_start as at_session_start
from aotloop.statefile.reader import decode
from tests.hooks.shim import call
from tests.hooks.situations import coordinator, driven, session
from tests.loops import write_loop

AGENT = "a5faec1266da6951f"
START = {"subagent_type": COORDINATOR, "prompt": "Coordinate the loop.", "description": "coordinate"}
NOTICE = f"<task-notification>\n<task-id>{AGENT}</task-id>\n<status>killed</status>"


def starting(call_id: str = "toolu_1", **more: Any) -> Payload:
    return session(tool_name="Agent", tool_input=START, tool_use_id=call_id, **more)


def coordinated(**more: Any) -> Loop:
    return driven(steering=Steering(coordinator=AGENT), **more)


def running(loop: Loop) -> str:
    return loop.control.steering.coordinator


def task(agent_type: str, name: str = "b1", status: str = "running") -> dict[str, Any]:
    return {"id": name, "type": "subagent", "status": status, "agent_type": agent_type}


def test_a_second_coordinator_after_an_async_launch_is_refused_and_told_to_wait() -> None:
    loop = driven()
    assert before_start(starting(), loop) == Answer()
    assert at_start(coordinator(agent_id=AGENT), loop) == Answer()
    refused = before_start(starting("toolu_2"), loop)
    assert isinstance(refused, Deny)
    assert AGENT in refused.reason
    assert "End your turn: you are notified when it ends." in refused.reason


def test_of_two_that_are_started_at_the_same_moment_one_is_refused(project: Path) -> None:
    path = write_loop(project, driven())

    def start(number: int) -> dict[str, Any]:
        return call("PreToolUse", project, tool_name="Agent", tool_input=START, tool_use_id=f"toolu_{number}")

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(start, range(4)))
    assert len([one for one in answers if one == {}]) == 1
    denied = [one["hookSpecificOutput"]["permissionDecision"] for one in answers if one]
    assert denied == ["deny"] * 3
    assert running(decode(path.read_bytes())).startswith("toolu_")


@pytest.mark.parametrize(
    ("payload", "loop"),
    [
        (starting(), driven(session_id="another")),
        (starting(), driven(status="stopped")),
        (session(tool_name="Agent", tool_input={"subagent_type": "aot-loop:worker"}), coordinated()),
        (session(tool_name="Agent", tool_input={"subagent_type": "other:coordinator"}), coordinated()),
    ],
)
def test_other_agents_and_other_sessions_are_left_alone(payload: Payload, loop: Loop, project: Path) -> None:
    path = write_loop(project, loop)
    before = path.read_bytes()
    given = {"tool_name": payload.tool_name, "tool_input": payload.tool_input, "tool_use_id": payload.tool_use_id}
    assert call("PreToolUse", project, **given) == {}
    assert path.read_bytes() == before


@pytest.mark.parametrize("wish", ["stop_requested", "redirect_requested"])
def test_none_is_started_while_the_person_stops_or_redirects(wish: str) -> None:
    more: dict[str, Any] = {wish: True}
    loop = driven(**more)
    assert isinstance(before_start(starting(), loop), Deny)
    assert running(loop) == ""


def test_a_compacted_session_is_told_that_its_coordinator_runs() -> None:
    loop = coordinated()
    on_session_start(session(source="compact"), loop)
    payload = at_session_start(session(), loop)
    assert isinstance(payload, Context)
    assert f"Its coordinator ({AGENT}) works in the background" in payload.text
    assert "Start no other one" in payload.text
    assert "start it again" not in payload.text


@pytest.mark.parametrize("source", ["startup", "resume", "clear", ""])
def test_a_new_process_of_the_client_has_no_agents(source: str) -> None:
    loop = coordinated()
    on_session_start(session(source=source), loop)
    assert running(loop) == ""


# --- the end of a coordinator --------------------------------------------------------------------------------------


def test_a_coordinator_that_waits_for_its_workers_still_runs() -> None:
    loop = coordinated()
    waiting = coordinator(agent_id=AGENT, background_tasks=[task(COORDINATOR, AGENT), task("aot-loop:worker")])
    on_stop(waiting, loop, Allow())
    assert running(loop) == AGENT
    on_stop(session(background_tasks=[task("aot-loop:worker")]), loop, Allow())
    assert running(loop) == AGENT, "a client may leave it out of the list while it waits"


def test_a_coordinator_that_may_end_has_ended_and_one_that_is_sent_back_has_not() -> None:
    alone = coordinator(agent_id=AGENT, background_tasks=[task(COORDINATOR, AGENT), task("other:agent")])
    loop = coordinated()
    on_stop(alone, loop, Block(reason="go on", message="go on"))
    assert running(loop) == AGENT
    on_stop(alone, loop, Allow())
    assert running(loop) == ""


def test_when_the_session_ends_its_turn_and_no_agent_of_ours_is_listed_it_has_ended() -> None:
    for tasks, left in (([], ""), ([task(COORDINATOR, AGENT, "killed")], ""), (None, AGENT)):
        loop = coordinated()
        on_stop(session(background_tasks=tasks), loop, Block(reason="go on", message="go on"))
        assert running(loop) == left


def test_one_that_was_killed_is_told_by_a_notice_or_by_the_tool_that_killed_it() -> None:
    loop = coordinated()
    on_notice(session(prompt=NOTICE.replace(AGENT, "another")), loop)
    after_tool(session(tool_name="TaskStop", tool_input={"task_id": "another"}), loop)
    assert running(loop) == AGENT
    after_tool(session(tool_name="TaskStop", tool_input={"task_id": AGENT}), loop)
    assert running(loop) == ""
    loop = coordinated()
    on_notice(session(prompt=NOTICE), loop)
    assert running(loop) == ""


def test_a_call_that_waited_for_the_coordinator_or_failed_leaves_none() -> None:
    launched = {"isAsync": True, "status": "async_launched", "agentId": AGENT}
    for response, left in ((launched, AGENT), ({"status": "completed"}, ""), (None, ""), ("an error", "")):
        loop = coordinated()
        after_tool(starting(tool_response=response), loop)
        assert running(loop) == left


def test_a_session_that_takes_the_loop_over_has_a_coordinator_of_its_own(project: Path) -> None:
    path = write_loop(project, coordinated())
    call("UserPromptSubmit", project, session_id="another", prompt="/aot-loop:enter-recursion take-over")
    assert running(decode(path.read_bytes())) == ""


def test_the_hook_hears_all_of_it_from_the_client(project: Path) -> None:
    path = write_loop(project, driven())

    def now() -> str:
        return running(decode(path.read_bytes()))

    given = {"tool_name": "Agent", "tool_input": START, "tool_use_id": "toolu_1"}
    assert call("PreToolUse", project, **given) == {}
    assert now() == "toolu_1"
    assert call("SubagentStart", project, agent_type=COORDINATOR, agent_id=AGENT) == {}
    assert call("PostToolUse", project, **given, tool_response={"isAsync": True}) == {}
    assert now() == AGENT
    assert "deny" in json.dumps(call("PreToolUse", project, **{**given, "tool_use_id": "toolu_2"}))
    assert call("UserPromptSubmit", project, prompt=NOTICE) == {}
    assert now() == ""
    assert call("PreToolUse", project, **given) == {}
    call("SessionStart", project, source="resume")
    assert now() == ""
