"""Loops in the real client that do not go as hoped: a way that fails, a stall, a lost memory, and bystanders."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import BaseCase, Constraints
from tests.hooks.situations import SESSION, driven
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, agent, is_agent, is_session
from tests.plugin.test_session import PLUGIN, Step, bash, loop_of, script, start
from tests.plugin.tokens import token_in
from tests.scripts.calling import call

pytestmark = needs_claude

ENTER = "/aot-loop:enter-recursion"
STATE_FILE = ".claude/aot-loop-state.md"
FEEDBACK = "Stop hook feedback:\n"


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def instructions(server: ModelServer, who: str) -> list[str]:
    """What the hook told whoever wanted to end."""
    texts = heard(server, who)[-1].texts
    return [text.removeprefix(FEEDBACK) for text in texts if text.startswith(FEEDBACK)]


def until_there(name: str) -> BaseCase:
    return BaseCase(type="file", value=name)


# --- an alternative fails ----------------------------------------------------------------------------------------


def worked(atom_id: str) -> Callable[[Exchange], Call]:
    """Integrates what the worker that ended last has left in its worktree."""

    def turn(exchange: Exchange) -> Call:
        place = re.findall(r"worktreePath: (\S+)", "\n".join(exchange.results))[-1]
        words = ("--token", token_in(exchange, atom_id), "--worktree", place, "--summary", f"'did {atom_id}'")
        return bash(script("integrate", atom_id, *words))

    return turn


def taken_back(exchange: Exchange) -> Call:
    """What fail_atom has just named."""
    failed = json.loads(exchange.results[-1])
    assert (failed["next"], failed["left"], failed["selected"]) == ("switch", "A1", "A2")
    return bash(script("take_back", ",".join(failed["undone"]), "--reason", "'the other way'"))


def begin(*atoms: str) -> Call:
    return bash(*(script("update_atom", one, "in_progress") for one in atoms))


def failed(atom_id: str, why: str, *more: str) -> Call:
    return bash(script("fail_atom", atom_id, "--reason", f"'{why}'", *more))


def test_when_an_alternative_is_in_the_way_what_was_built_for_it_goes_and_the_other_one_is_taken(stage: Stage) -> None:
    """The first hint counts: the other choice was never blamed, and no atom of this loop needed more attempts."""
    limits = Constraints(max_attempts=2)
    ways = [atom("A1", or_group="way"), atom("A2", or_group="way")]
    loop = a_loop(*ways, status="pending", base_case=until_there("second.txt"), constraints=limits)
    write_accepted(stage.project, loop)
    parts = ["--children", "A11,A12", "--descriptions", "'lay the ground|||build on it'", "--reason", "'two steps'"]
    coordinator: list[Step] = [
        bash(script("decompose_atom", "A1", *parts)),
        begin("A11", "A12"),
        start(("worker", "lay the ground"), ("worker", "build on it")),
        worked("A11"),
        failed("A12", "no such library", "--because-of", "A11"),
        taken_back,
        begin("A2"),
        start(("worker", "the other way")),
        worked("A2"),
        start(("verifier", "Verify the base case.")),
        Say("verified"),
    ]
    scripts = [
        Script("lay the ground", [bash("echo first > first.txt"), Say('{"success": true}')]),
        Script("build on it", [Say('{"success": false}')]),
        Script("the other way", [bash("ls; echo second > second.txt"), Say('{"success": true}')]),
        Script("Verify the base case.", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script("Coordinate the loop", coordinator),
        Script(
            "enter-recursion",
            [bash(script("enter_loop")), start(("coordinator", "Coordinate the loop here.")), Say("ended")],
        ),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, plugins=[PLUGIN])
        assert server.lost == []
    loop = loop_of(stage)
    assert (run.code, loop.control.status, loop.or_groups["way"].selected) == (0, "completed", "A2")
    assert loop.or_groups["way"].failed == ("A1",)
    assert set(loop.bindings) == {"A2"}
    assert "first.txt" not in heard(server, "the other way")[-1].results[0], "not even in the next worker's tree"
    assert not (stage.project / "first.txt").exists()
    assert (stage.project / "second.txt").read_text() == "second\n"
    log = subprocess.run(["git", "log", "--format=%s"], cwd=stage.project, capture_output=True, check=True, text=True)
    assert len(re.findall("Take back A11", log.stdout)) == 1


# --- nothing comes of it -----------------------------------------------------------------------------------------


BEGIN = script("update_atom", "A1", "in_progress")


def test_a_coordinator_that_stalls_is_told_another_strategy_and_then_the_loop_stops(stage: Stage) -> None:
    limits = Constraints(max_stall_count=2, max_total_attempts=60)
    loop = a_loop(atom("A1"), status="pending", base_case=until_there("a.txt"), constraints=limits)
    write_accepted(stage.project, loop)
    lasting = least_outcomes(Graph(loop), ["A1"])
    tried = [
        bash(*(one for number in numbers for one in (BEGIN, script("fail_atom", "A1", "--reason", f"no-{number}"))))
        for numbers in (range(lasting), range(lasting, 2 * lasting))
    ]
    coordinator: list[Step] = [tried[0], Say("I tried"), tried[1], Say("Nothing helps"), Say("No")]
    scripts = [
        Script("Coordinate the loop", coordinator),
        Script(
            "enter-recursion",
            [
                bash(script("enter_loop")),
                start(("coordinator", "Coordinate the loop here.")),
                bash(script("read_state")),
                Say("it has stopped"),
            ],
        ),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, plugins=[PLUGIN])
        assert server.lost == []
        state = json.loads(heard(server, "enter-recursion")[-1].results[-1])
    first, last = instructions(server, "Coordinate the loop")
    assert "nothing got smaller this time" in first
    assert "Stalled: switch strategy for atom A1: decompose it (decompose_atom.py), or try another approach" in first
    assert last.startswith("Verify now: this is the last time (stalled: 2 generations")
    assert (run.code, run.said) == (0, "it has stopped")
    assert (state["status"], state["stop_reason"].partition(":")[0], state["stall_count"]) == ("stopped", "stalled", 2)


# --- agents that cannot start agents -----------------------------------------------------------------------------


def test_where_agents_cannot_start_agents_the_session_coordinates(stage: Stage) -> None:
    write_accepted(stage.project, a_loop(atom("A1"), status="pending", base_case=until_there("a.txt")))
    session: list[Step] = [
        bash(script("enter_loop")),
        start(("coordinator", "Coordinate the loop here.")),
        bash(script("request_redirect", "--cancel")),
        Say("so it is me"),
        begin("A1"),
        start(("worker", "work on it")),
        worked("A1"),
        Say("A1 is resolved"),
        start(("verifier", "Verify the base case.")),
        Say("verified"),
    ]
    scripts = [
        Script("work on it", [bash("echo a > a.txt"), Say('{"success": true}')]),
        Script("Verify the base case.", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script("Coordinate the loop", [bash(script("request_redirect")), Say("I cannot start agents")]),
        Script("enter-recursion", session),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, plugins=[PLUGIN], env={"CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "1"})
        assert server.lost == []
    tools = [one["name"] for one in json.loads(asked_by(server, "Coordinate the loop"))["tools"]]
    assert "Bash" in tools
    assert not {"Agent", "Task"}.intersection(tools)
    assert instructions(server, "Coordinate the loop") == [], "it was let go"
    ready, verify = instructions(server, "enter-recursion")
    assert "- A1: do A1" in ready
    assert verify.startswith("Verify now")
    control = loop_of(stage).control
    assert (run.code, control.status, control.iteration) == (0, "completed", 1)
    assert "The loop is completed: the base case holds" in run.of("informational")[-1]["content"]


def asked_by(server: ModelServer, mark: str) -> bytes:
    return next(record.request.body for record in server.played if mark in record.exchange.prompt)


# --- a session that forgets --------------------------------------------------------------------------------------


def test_a_session_that_was_compacted_is_told_where_its_loop_is(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(stage.project)
    write_accepted(stage.project, a_loop(atom("A1"), atom("A2"), status="pending", base_case=until_there("a.txt")))
    entered = [
        bash(script("enter_loop")),
        begin("A1"),
        failed("A1", "the port was taken"),
        bash(script("request_redirect")),
        Say("waiting"),
    ]
    with ModelServer([Script("enter-recursion", entered)]) as server:
        begun = stage.run(server, ENTER, plugins=[PLUGIN])
    call("request_redirect", "--cancel")
    iteration = loop_of(stage).control.iteration

    with ModelServer([Script(".", [Say("the summary")])]) as server:
        compacted = stage.run(server, "/compact", plugins=[PLUGIN], resume=begun.session)
        asked = server.played[0].request.body
    assert [one["source"] for one in compacted.told("SessionStart")] == ["resume", "compact"]
    assert b"Keep in the summary that this session drives a loop" in asked
    assert loop_of(stage).control.iteration == iteration, "the agent that compacts does not coordinate"

    (stage.project / STATE_FILE).unlink()  # what is told now was told after the compaction
    with ModelServer([Script(".", [Say("I know")])]) as server:
        stage.run(server, "go on", plugins=[PLUGIN], resume=begun.session)
        text = json.dumps(json.loads(server.played[0].request.body)["messages"])
    anchor = text.partition("the summary")[2].partition("SessionStart hook additional context: ")[2]
    for words in ("Objective: It works", "Unresolved atoms: 2", "- A1: do A1", "A1, attempt 1: the port was taken"):
        assert words in anchor


# --- bystanders --------------------------------------------------------------------------------------------------


def test_agents_of_others_in_the_session_that_drives_the_loop_end_when_they_like(stage: Stage) -> None:
    write_accepted(stage.project, a_loop(atom("A1"), status="pending", base_case=until_there("a.txt")))
    other = stage.plugin("other", {"agents/coordinator.md": agent("coordinator")})
    digest = bash(f"sha256sum {STATE_FILE}")

    def begin_another(kind: str) -> Call:
        named = {"description": kind, "prompt": f"be {kind}", "subagent_type": kind, "run_in_background": False}
        return Call(tool("Agent", **named))

    session = [
        bash(script("enter_loop")),
        digest,
        begin_another("other:coordinator"),
        begin_another("general-purpose"),
        digest,
        bash(script("request_stop")),
        Say("ended"),
    ]
    scripts = [
        Script(is_agent("coordinator"), [Say("I coordinate something else")]),
        Script("be general-purpose", [Say("I do something else")]),
        Script("enter-recursion", session),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, plugins=[PLUGIN, other])
        assert server.lost == []
        results = heard(server, "enter-recursion")[-1].results
    assert [one["agent_type"] for one in run.told("SubagentStop")] == ["other:coordinator", "general-purpose"]
    assert results[1] == results[4], "nothing was counted"
    assert "I coordinate something else" in results[2]
    assert (run.said, loop_of(stage).control.iteration) == ("ended", 0)


@pytest.mark.parametrize("kept", [0.0, 0.5, 0.9], ids=["missing", "half of it", "most of it"])
def test_a_session_whose_loop_is_lost_works_on(stage: Stage, kept: float) -> None:
    path = write_loop(stage.project, driven(atom("A1")))
    whole = path.read_bytes()
    content = b"session_id: " + SESSION.encode() + b"\n" + whole[: int(len(whole) * kept)]
    path.write_bytes(content)
    if not kept:
        path.unlink()
    written = stage.project / "b.txt"
    scripts = [
        Script("Coordinate the loop", [bash(script("read_state")), Say("there is nothing to coordinate")]),
        Script(
            is_session,
            [
                Call(tool("Write", file_path=str(written), content="b")),
                start(("coordinator", "Coordinate the loop here.")),
                Say("ended"),
            ],
        ),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, "--session-id", SESSION, plugins=[PLUGIN])
        assert server.lost == []
    assert (run.code, run.session, run.said) == (0, SESSION, "ended")
    assert written.exists()
    assert len(run.told("Stop")) == len(run.told("SubagentStop")) == 1
    assert run.of("informational") == []
    assert (path.read_bytes() if path.exists() else None) == (content if kept else None)
