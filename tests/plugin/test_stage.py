"""What Claude Code does today, as far as our hooks rely on it: docs/development/plugin-facts.md tells the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.recorder import Reply, says
from tests.plugin.runs import commit, heard, push
from tests.plugin.stage import Stage, agent, is_agent, is_session
from tests.plugin.talking import Line, has_ended_a_turn

pytestmark = needs_claude

GO_ON = {"decision": "block", "reason": "Two atoms remain.", "systemMessage": "2 of 3"}


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


@pytest.fixture
def crew(stage: Stage) -> Path:
    """A coordinator that starts workers, and a command that starts the coordinator."""
    return stage.plugin(
        "crew",
        {
            "agents/coordinator.md": agent("coordinator", tools="Task, Bash"),
            "agents/worker.md": agent("worker", tools="Bash, Write"),
            "commands/enter.md": "---\ndescription: Enters\n---\nEnter $ARGUMENTS at ${CLAUDE_PLUGIN_ROOT}.\n",
        },
    )


def start(name: str, prompt: str, **more: object) -> Call:
    return Call(tool("Agent", description=name, prompt=prompt, subagent_type=f"crew:{name}", **more))


def counted(exchange: Exchange) -> Say:
    return Say(f"turn {len(exchange.texts)}")


def test_hooks_of_a_nested_crew_know_session_and_agent(stage: Stage, crew: Path) -> None:
    written = stage.project / "a.txt"
    two = Call(
        *[tool("Agent", description=f"w{n}", prompt=f"work {n}", subagent_type="crew:worker") for n in (1, 2)],
    )
    scripts = [
        Script("work 1", [Call(tool("Write", file_path=str(written), content="a\n")), Say("written")]),
        Script("work 2", [Say("nothing to do")]),
        Script(is_agent("coordinator"), [two, Say("all done")]),
        Script("<command-name>/crew:enter<", [start("coordinator", "coordinate"), Say("started"), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, "/crew:enter the loop", plugins=[crew])
        assert server.lost == []
    assert (run.code, written.read_text()) == (0, "a\n")
    # the command: a hook sees what was typed, the model what the file says
    assert run.told("UserPromptSubmit")[0]["prompt"] == "/crew:enter the loop"
    assert run.told("UserPromptExpansion")[0]["command_name"] == "crew:enter"
    assert f"Enter the loop at {crew}." in heard(server, "/crew:enter")[0].texts[-1]
    # one session for all, and each agent by its type
    assert {call.input["session_id"] for call in run.calls} == {run.session}
    assert {call.environ["CLAUDE_CODE_SESSION_ID"] for call in run.calls} == {run.session}
    assert run.told("PreToolUse", tool_name="Write")[0]["agent_type"] == "crew:worker"
    assert "agent_type" not in run.told("PreToolUse", tool_name="Agent")[0]
    stops = run.told("SubagentStop")
    assert [one["agent_type"] for one in stops] == ["crew:worker", "crew:worker", "crew:coordinator"]
    # started without `run_in_background`, the coordinator is in the background, in its own list; its workers are not
    coordinator = stops[-1]
    assert [one["id"] for one in coordinator["background_tasks"]] == [coordinator["agent_id"]]
    assert [one["spawn_depth"] for one in run.of("task_started")] == [1, 2, 2]
    assert [one["is_backgrounded"] for one in run.of("task_started")] == [True, False, False]
    assert [bool(one["background_tasks"]) for one in run.told("Stop")] == [True, False]


def test_block_makes_an_agent_go_on_until_the_cap_and_tools_start_the_count_anew(stage: Stage, crew: Path) -> None:
    stage.recorder.reply(says(GO_ON, hook_event_name="SubagentStop"))
    busy = Call(tool("Bash", command="true", description="nothing"))
    scripts = [
        Script(is_agent("coordinator"), [counted, counted, busy, *[counted] * 9]),
        Script(is_session, [start("coordinator", "coordinate", run_in_background=False), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, "begin", plugins=[crew], env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3"})
        assert server.lost == []
    stops = run.told("SubagentStop")
    assert [one["stop_hook_active"] for one in stops] == [False, True, True, True, True, True]
    assert stops[0]["background_tasks"] == []  # in the foreground, it is not in its own list
    last = heard(server, "I am the coordinator.")[-1]
    assert [text for text in last.texts if "atoms" in text] == ["Stop hook feedback:\nTwo atoms remain."] * 5
    assert (run.code, run.said) == (0, "ended")


@pytest.mark.parametrize(
    ("reply", "requests"),
    [
        (Reply(when={"hook_event_name": "Stop"}, stdout='{"decision":"approve"}', times=1), 1),
        (Reply(when={"hook_event_name": "Stop"}, stdout="Traceback", code=1, times=1), 1),
        (Reply(when={"hook_event_name": "Stop"}, stderr="more to do", code=2, times=1), 2),
        (says(GO_ON, times=1, hook_event_name="Stop"), 2),
    ],
    ids=["approve", "crash", "exit 2", "block"],
)
def test_only_a_block_keeps_the_session_from_ending(stage: Stage, reply: Reply, requests: int) -> None:
    stage.recorder.reply(reply)
    with ModelServer([Script(is_session, [counted, counted])]) as server:
        run = stage.run(server, "begin")
    assert (run.code, len(server.played), server.lost) == (0, requests, [])
    persons = [one["content"] for one in run.of("informational")]
    assert persons == (["Stop says: 2 of 3"] if "systemMessage" in reply.stdout else [])


def test_a_denied_tool_is_not_used_and_the_agent_is_told_why(stage: Stage, crew: Path) -> None:
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Workers do not write here.",
    }
    narrowed = {"hook_event_name": "PreToolUse", "agent_type": "crew:worker", "tool_name": "Write"}
    stage.recorder.reply(Reply(when=narrowed, stdout=json.dumps({"hookSpecificOutput": decision})))
    path = stage.project / "a.txt"
    write = Call(tool("Write", file_path=str(path), content="a\n"))
    scripts = [
        Script(is_agent("worker"), [write, Say("could not")]),
        Script(is_session, [start("worker", "work", run_in_background=False), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        stage.run(server, "begin", plugins=[crew])
        assert server.lost == []
    assert not path.exists()
    assert heard(server, "I am the worker.")[-1].results == ("PreToolUse:Write hook error: Workers do not write here.",)


def test_what_session_start_says_reaches_the_model_after_a_resume_and_a_compaction(stage: Stage) -> None:
    def anchor(source: str) -> Reply:
        context = {"hookEventName": "SessionStart", "additionalContext": f"anchored after {source}"}
        return says({"hookSpecificOutput": context}, hook_event_name="SessionStart", source=source)

    stage.recorder.reply(
        anchor("resume"), anchor("compact"), Reply(when={"hook_event_name": "PreCompact"}, stdout="Keep the goal.")
    )
    with ModelServer([Script(".", [counted] * 9)]) as server:
        begun = stage.run(server, "begin")
        compacted = stage.run(server, "/compact", resume=begun.session)
        asked_to_compact = server.played[1].request.body
        resumed = stage.run(server, "go on", resume=begun.session)
    assert begun.session == compacted.session == resumed.session
    assert [one["source"] for one in compacted.told("SessionStart")] == ["resume", "compact"]
    assert b"Keep the goal." in asked_to_compact
    # compaction is done by an agent without a type, and its end is told, too
    assert {one["agent_type"] for one in compacted.told("SubagentStop")} == {""}
    assert b"anchored after compact" in server.played[-1].request.body
    assert b"anchored after resume" in server.played[-1].request.body


def test_a_person_answers_questions_and_interrupts_while_agents_run(stage: Stage, crew: Path) -> None:
    choices = [{"label": label, "description": label} for label in ("yes", "no")]
    question = {"question": "Is that the goal?", "header": "Goal", "options": choices, "multiSelect": False}

    def stop(exchange: Exchange) -> Call:
        (launched,) = [text for text in exchange.results if "agentId: " in text]
        return Call(tool("TaskStop", task_id=launched.partition("agentId: ")[2].split()[0]))

    endless = Call(tool("Bash", command="while true; do sleep 1; done", description="endless"))
    scripts = [
        Script(is_agent("worker"), [endless]),
        Script(
            is_session,
            [
                Call(tool("AskUserQuestion", questions=[question])),
                start("worker", "work"),
                Say("it works"),
                stop,
                Say("stopped"),
                Say("yes, it is stopped"),
            ],
        ),
    ]
    with ModelServer(scripts) as server:
        enough = Line(text="enough", once=has_ended_a_turn)
        run = stage.talk(server, "begin", enough, plugins=[crew], answers={"Is that the goal?": "yes"})
        assert server.lost == []
    session = [record.exchange for record in server.played if is_session(record.exchange)]
    assert '"Is that the goal?"="yes"' in session[1].results[-1]
    assert "Successfully stopped task" in session[-1].results[-1]
    assert run.told("SubagentStop") == []  # who is stopped does not stop by himself
    assert run.code == 0


@pytest.mark.parametrize(("base", "expected"), [("fresh", "pushed"), ("head", "not pushed")])
def test_an_isolated_agent_works_on_what_is_pushed_unless_the_base_is_head(
    stage: Stage, base: str, expected: str
) -> None:
    commit(stage.project, "pushed")
    push(stage.project)
    commit(stage.project, "not pushed")
    isolated = stage.plugin("crew", {"agents/worker.md": agent("worker", tools="Bash", isolation="worktree")})
    look = Call(tool("Bash", command="git log -1 --format=%s; echo a > a.txt", description="look"))
    scripts = [
        Script(is_agent("worker"), [look, Say("done")]),
        Script(is_session, [start("worker", "work", run_in_background=False), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        settings = json.dumps({"worktree": {"baseRef": base}})
        run = stage.run(server, "begin", "--settings", settings, plugins=[isolated])
        assert server.lost == []
    assert heard(server, "I am the worker.")[-1].results == (expected,)
    # the tree stays, on a branch of its own, not committed; whoever started the agent is told
    (stop,) = run.told("SubagentStop")
    name = f"agent-{stop['agent_id']}"
    tree = stage.project / ".claude/worktrees" / name
    assert (tree / "a.txt").exists()
    assert stop["cwd"] == str(tree)
    answer = server.played[-1].exchange.results[-1]
    assert f"worktreePath: {tree}\nworktreeBranch: worktree-{name}" in answer
    assert {call.environ["CLAUDE_PROJECT_DIR"] for call in run.calls} == {str(stage.project)}
