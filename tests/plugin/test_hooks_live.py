"""Our hooks in the real clients: who coordinates is kept until the base case holds, who does not is left alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import BaseCase, Constraints, Loop
from aotloop.hooks.payload import MOST_IN_VAIN
from aotloop.statefile.reader import decode
from tests.hooks.situations import driven
from tests.loops import atom, write_loop
from tests.modelserver import Call, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude, needs_codex
from tests.plugin.codex_stage import UNTRUSTED_TOO, CodexStage
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, agent, is_agent, is_session
from tests.scripts.calling import PLUGIN, SCRIPTS

ENTER = "/aot-loop:enter-recursion"


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def our_hooks() -> dict[str, Any]:
    text = (PLUGIN / "hooks" / "hooks.json").read_text()
    hooks: dict[str, Any] = json.loads(text.replace("${CLAUDE_PLUGIN_ROOT}", str(PLUGIN)))
    return hooks


@pytest.fixture
def crew(stage: Stage) -> Path:
    """Our hooks, with agents and a command that say as little as possible."""
    return stage.plugin(
        "aot-loop",
        {
            "agents/coordinator.md": agent("coordinator", tools="Task, Bash"),
            "agents/probe.md": agent("probe", tools="Read, Write"),
            "agents/worker.md": agent("worker", tools="Bash, Write"),
            "commands/enter-recursion.md": "---\ndescription: Enters\n---\nEnter.\n",
        },
        our_hooks(),
    )


def a_loop_for_nobody(**control: Any) -> Loop:
    """It runs, and is done when a file is there."""
    loop = driven(atom("A1"), **{"session_id": None, **control})
    loop.objective = replace(loop.objective, base_case=BaseCase(type="file", value="done.txt"))
    return loop


def script(name: str, *words: str) -> str:
    return " ".join([f'"{sys.executable}" "{SCRIPTS[name]}"', *words])


def shell(*commands: str) -> Call:
    return Call(tool("Bash", command=" && ".join(commands), description="work"))


def start(name: str) -> Call:
    kind = f"aot-loop:{name}"
    return Call(tool("Agent", description=name, prompt=f"be {name}", subagent_type=kind, run_in_background=False))


def loop_of(path: Path) -> Loop:
    return decode(path.read_bytes())


def told_by_hook(server: ModelServer, who: str) -> list[str]:
    texts = heard(server, who)[-1].texts
    return [text.removeprefix("Stop hook feedback:\n") for text in texts if text.startswith("Stop hook feedback:")]


@needs_claude
def test_a_coordinator_is_sent_back_until_the_base_case_holds(stage: Stage, crew: Path) -> None:
    path = write_loop_in(stage.project, a_loop_for_nobody())
    work = shell(script("update_atom", "A1", "in_progress"), "touch done.txt", script("update_atom", "A1", "resolved"))
    scripts = [
        Script(is_agent("worker"), [Say("nothing to do for me")]),
        Script(
            is_agent("coordinator"),
            [
                start("worker"),
                Say("all done"),
                work,
                Say("now it is"),
                shell(script("verify_checklist")),
                Say("verified"),
            ],
        ),
        Script(f"<command-name>{ENTER}<", [start("coordinator"), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, ENTER, plugins=[crew])
        assert server.lost == []
    control = loop_of(path).control
    assert (run.code, control.session_id) == (0, run.session)
    ready, verify = told_by_hook(server, "I am the coordinator.")
    assert "A1: do A1" in ready
    assert "Verify now" in verify
    # three stops of the coordinator in one iteration, in which one attempt ended; those of others count nothing
    assert (control.status, control.iteration, control.tried) == ("completed", 1, 1)
    stops = run.told("SubagentStop")
    assert [one["agent_type"] for one in stops].count("aot-loop:coordinator") == 3
    assert len(run.told("Stop")) == 1
    assert run.said == "ended"


@needs_claude
def test_a_session_that_coordinates_itself_is_stopped_when_nothing_comes_of_it(stage: Stage, crew: Path) -> None:
    loop = a_loop_for_nobody()
    loop.objective = replace(loop.objective, constraints=Constraints(max_stall_count=2, max_iterations=2))
    path = write_loop_in(stage.project, loop)
    with ModelServer([Script(is_session, [Say(f"turn {number}") for number in range(MOST_IN_VAIN + 1)])]) as server:
        run = stage.run(server, ENTER, plugins=[crew])
        assert server.lost == []
    persons = [one["content"] for one in run.of("informational")]
    assert ["Continue with what is unresolved: A1." in one for one in persons] == [True] * MOST_IN_VAIN + [False]
    assert f"stopped. stalled: it was sent back {MOST_IN_VAIN} times in a row, and no attempt ended" in persons[-1]
    assert (loop_of(path).control.status, run.said) == ("stopped", f"turn {MOST_IN_VAIN}")
    assert loop_of(path).control.iteration == 1, "to wait is not to fail"


@needs_claude
def test_a_probe_cannot_write_and_nobody_edits_the_file_by_hand(stage: Stage, crew: Path) -> None:
    path = write_loop_in(stage.project, a_loop_for_nobody())
    before = path.read_bytes()
    written = stage.project / "a.txt"
    scripts = [
        Script(is_agent("probe"), [Call(tool("Write", file_path=str(written), content="a")), Say("could not")]),
        Script(is_agent("worker"), [shell(f"echo x > '{path}'"), shell("touch b.txt"), Say("could not")]),
        Script(is_session, [start("probe"), start("worker"), Say("ended"), Say("ended"), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        stage.run(server, ENTER, plugins=[crew], env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"})
        assert server.lost == []
    (refusal,) = heard(server, "I am the probe.")[-1].results
    assert refusal.startswith("PreToolUse:Write hook error: A probe only looks")
    assert not written.exists()
    refusal = heard(server, "I am the worker.")[-1].results[0]
    assert "PreToolUse:Bash hook error: The loop runs, and its file is not edited by hand." in refusal
    assert loop_of(path).atoms == decode(before).atoms
    assert (stage.project / "b.txt").exists()


@needs_claude
@pytest.mark.parametrize("content", [None, b"---\nnot: [valid\n---\n", b"\xff\xfe"], ids=["valid", "corrupt", "bytes"])
def test_a_second_session_in_the_folder_is_left_alone(stage: Stage, crew: Path, content: bytes | None) -> None:
    path = write_loop_in(stage.project, a_loop_for_nobody(session_id="another"))
    if content is not None:
        path.write_bytes(content)
    before = path.read_bytes()
    foreign = Call(tool("Agent", description="c", prompt="be coordinator", subagent_type="aot-loop:coordinator"))
    scripts = [
        Script(is_agent("coordinator"), [Say("I am none of yours")]),
        Script(is_session, [shell("touch a.txt"), foreign, Say("started"), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, "hello", plugins=[crew])
        assert server.lost == []
    assert (run.code, run.said) == (0, "ended")
    assert (stage.project / "a.txt").exists()
    assert path.read_bytes() == before
    assert run.of("informational") == []


@needs_claude
def test_a_resumed_session_is_told_where_its_loop_is(stage: Stage, crew: Path) -> None:
    path = write_loop_in(stage.project, a_loop_for_nobody())
    with ModelServer([Script(is_session, [Say("one"), Say("two"), Say("three")])]) as server:
        first = stage.run(server, ENTER, plugins=[crew], env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "1"})
    assert loop_of(path).control.status == "stopped"
    write_loop_in(stage.project, a_loop_for_nobody(session_id=first.session, stop_requested=True))
    with ModelServer([Script(is_session, [Say("back"), Say("again")])]) as server:
        stage.run(server, "where are we?", plugins=[crew], resume=first.session)
        body = server.played[0].request.body
    assert b"This session drives an AoT loop" in body
    assert b"- A1: do A1" in body
    assert loop_of(path).control.stop_reason == "user: stop requested"


@needs_codex
def test_codex_is_sent_back_until_the_base_case_holds(tmp_path: Path, own_home: Path) -> None:
    stage = CodexStage(tmp_path / "stage", own_home)
    path = write_loop_in(stage.project, a_loop_for_nobody())
    folder = own_home / "codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hooks.json").write_text(json.dumps(our_hooks()))
    work = [script("update_atom", "A1", "in_progress"), "touch done.txt", script("update_atom", "A1", "resolved")]
    run_it = tool("exec_command", cmd=" && ".join([*work, script("verify_checklist")]))
    with ModelServer([Script("enter-recursion", [Say("done"), Call(run_it), Say("now it is")])]) as server:
        run = stage.run(server, ENTER, UNTRUSTED_TOO)
        assert server.lost == []
    control = loop_of(path).control
    assert control.session_id == run.session
    assert any("A1: do A1" in text for text in server.played[-1].exchange.texts)
    assert (run.code, control.status, control.iteration) == (0, "completed", 1)


def write_loop_in(project: Path, loop: Loop) -> Path:
    (project / ".claude").mkdir(exist_ok=True)
    return write_loop(project, loop)
