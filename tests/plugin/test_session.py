"""A loop inside of the real client, as the plugin's texts tell it: aligned, entered, redirected, left, verified."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.core.model import Loop
from aotloop.statefile.reader import decode
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, Turn, tool
from tests.modelserver.clients import needs_claude
from tests.patience import until
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, is_session
from tests.plugin.talking import Events, Line, has_ended_a_turn
from tests.plugin.tokens import token_in

pytestmark = needs_claude

PLUGIN = Path(__file__).parents[2] / "plugin"
HELLO = "{checklist: [{item: hello, check: {type: command, value: grep -q hello hello.txt}}]}"
OBJECTIVE = """\
goal: Guests are greeted
background_intent: They should feel welcome
deliverables: hello.txt and bye.txt
definition_of_done: Both are there
base_case:
  checklist:
    - {item: hello, check: {type: command, value: grep -q hello hello.txt}}
    - {item: bye, check: {type: file, value: bye.txt}}
atoms:
  - {id: A1, description: Say hello, touches: [hello.txt]}
  - {id: A2, description: Say bye, touches: [bye.txt]}
"""


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def script(name: str, *words: str) -> str:
    (path,) = PLUGIN.glob(f"skills/*/scripts/{name}.py")
    return " ".join(["python3", str(path), *words])


def bash(*commands: str) -> Call:
    return Call(*(tool("Bash", command=command, description="as told") for command in commands))


def start(*agents: tuple[str, str], behind: bool = False) -> Call:
    return Call(
        *(
            tool(
                "Agent",
                description=name,
                prompt=prompt,
                subagent_type=f"aot-loop:{name}",
                run_in_background=behind,
            )
            for name, prompt in agents
        )
    )


def loop_of(stage: Stage) -> Loop:
    return decode((stage.project / ".claude" / "aot-loop-state.md").read_bytes())


def integrated(exchange: Exchange) -> Call:
    """From what the workers answered: the client says where each one's worktree is."""
    places = re.findall(r"worktreePath: (\S+)", "\n".join(exchange.results))
    by_file = {("A1" if (Path(place) / "hello.txt").exists() else "A2"): place for place in places}
    return bash(
        *(
            script(
                *("integrate", atom, "--token", token_in(exchange, atom)),
                *("--worktree", by_file[atom], "--summary", f"'{atom} done'"),
            )
            for atom in sorted(by_file)
        )
    )


def aligned(stage: Stage) -> str:
    """The digest by which the person accepts the commands."""
    write = f"{script('align_goal', '-', '--agreed', '--request', 'greet')} <<'YAML'\n{OBJECTIVE}YAML"
    with ModelServer([Script(is_session, [bash(write), Say("agreed")])]) as server:
        stage.run(server, "/aot-loop:align-goal greet", plugins=[PLUGIN])
        (written,) = server.played[-1].exchange.results
    assert loop_of(stage).control.status == "pending"
    return str(json.loads(written)["accept"])


def test_a_loop_from_alignment_to_a_base_case_that_holds(stage: Stage) -> None:
    digest = aligned(stage)
    scripts = [
        Script("atom A1", [bash("echo hello > hello.txt"), Say('{"success": true}')]),
        Script("atom A2", [bash("echo bye > bye.txt"), Say('{"success": true}')]),
        Script("Verify the base case.", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script(
            "Coordinate the loop",
            [
                bash(script("read_state")),
                bash(script("update_atom", "A1", "in_progress"), script("update_atom", "A2", "in_progress")),
                start(("worker", "atom A1"), ("worker", "atom A2")),
                integrated,
                Say("A1 and A2 are resolved"),
                start(("verifier", "Verify the base case.")),
                Say("verified"),
            ],
        ),
        Script(
            "enter-recursion",
            [bash(script("enter_loop")), start(("coordinator", "Coordinate the loop here.")), Say("ended")],
        ),
    ]
    with ModelServer(scripts) as server:
        run = stage.run(server, f"/aot-loop:enter-recursion accept {digest}", plugins=[PLUGIN])
        told = [text for text in heard(server, "Coordinate the loop")[-1].texts if "Verify now" in text]
        assert server.lost == []
    loop = loop_of(stage)
    assert (run.code, loop.control.status, loop.control.session_id) == (0, "completed", run.session)
    assert len(told) == 1, "sent back once, to verify"
    assert [atom.status for atom in loop.atoms] == ["resolved", "resolved"]
    assert loop.bindings["A1"].summary == "A1 done"
    log = subprocess.run(
        ["git", "log", "--format=%(trailers:key=Aot-Atom,valueonly)"],
        cwd=stage.project,
        capture_output=True,
        check=True,
    )
    assert sorted(log.stdout.split()) == [b"A1", b"A2"]
    assert (stage.project / "hello.txt").read_text() == "hello\n"
    assert list((stage.project / ".claude" / "worktrees").glob("*")) == []


# --- a person interrupts -----------------------------------------------------------------------------------------

Step = Turn | Callable[[Exchange], Turn]

WORKING = (
    Script("atom A1", [bash("while true; do sleep 1; done")]),
    Script("Coordinate the loop", [bash(script("update_atom", "A1", "in_progress")), start(("worker", "atom A1"))]),
)
"""Whoever is told to work on A1 never ends. The coordinator is in the background, so that the person can type."""


def stop_agent(exchange: Exchange) -> Call:
    (launched,) = [text for text in exchange.results if "agentId: " in text]
    return Call(tool("TaskStop", task_id=launched.partition("agentId: ")[2].split()[0]))


def is_at_work(stage: Stage) -> Callable[[Events], bool]:
    def look(events: Events) -> bool:
        return has_ended_a_turn(events) and until(lambda: loop_of(stage).atoms[0].status == "in_progress")

    return look


def test_a_person_leaves_in_mid_loop(stage: Stage) -> None:
    digest = aligned(stage)
    session: list[Step] = [
        bash(script("enter_loop")),
        start(("coordinator", "Coordinate the loop."), behind=True),
        Say("it works"),
        bash(script("request_stop", "--reason", "enough")),
        stop_agent,
        bash(script("set_status", "stopped", "--reason", "'user: enough'"), script("read_state")),
        bash(script("update_atom", "A1", "pending")),
        Say("stopped"),
        Say("nothing runs any more"),
    ]
    with ModelServer([*WORKING, Script(is_session, session)]) as server:
        leave = Line(text="/aot-loop:exit-recursion enough", once=is_at_work(stage))
        run = stage.talk(server, f"/aot-loop:enter-recursion accept {digest}", leave, plugins=[PLUGIN])
    loop = loop_of(stage)
    assert (run.code, loop.control.status, loop.control.stop_reason) == (0, "stopped", "user: enough")
    assert [atom.status for atom in loop.atoms] == ["pending", "pending"]


def test_a_person_changes_the_direction_in_mid_loop_and_it_goes_on(stage: Stage) -> None:
    digest = aligned(stage)
    choices = [{"label": label, "description": label} for label in ("yes", "no")]
    question = {"question": "Only hello?", "header": "Scope", "options": choices, "multiSelect": False}
    said = "--description 'only hello'"
    session: list[Step] = [
        bash(script("enter_loop")),
        start(("coordinator", "Coordinate the loop."), behind=True),
        Say("it works"),
        bash(script("request_redirect")),
        stop_agent,
        bash(script("read_state")),
        Call(tool("AskUserQuestion", questions=[question])),
        bash(
            script("apply_correction", "remove_atom", "--atom", "A2", said),
            script("apply_correction", "alignment", "--base-case", f"'{HELLO}'", said),
        ),
        start(("coordinator", "Go on with the loop.")),
        Say("ended"),
        Say("nothing runs any more"),
    ]
    scripts = [
        *WORKING,
        Script("once more A1", [bash("echo hello > hello.txt"), Say('{"success": true}')]),
        Script("Verify the base case.", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script(
            "Go on with the loop",
            [
                bash(script("update_atom", "A1", "in_progress")),
                start(("worker", "once more A1")),
                integrated,
                start(("verifier", "Verify the base case.")),
                Say("verified"),
            ],
        ),
        Script(is_session, session),
    ]
    with ModelServer(scripts) as server:
        turn = Line(text="/aot-loop:redirect only hello", once=is_at_work(stage))
        enter = f"/aot-loop:enter-recursion accept {digest}"
        run = stage.talk(server, enter, turn, plugins=[PLUGIN], answers={"Only hello?": "yes"})
    loop = loop_of(stage)
    assert (run.code, loop.control.status) == (0, "completed")
    assert [(atom.id, atom.status) for atom in loop.atoms] == [("A1", "resolved")]
    assert [one.type for one in loop.corrections] == ["dag_adjustment", "objective_change"]
    assert [one.description for one in loop.corrections] == ["only hello"] * 2
