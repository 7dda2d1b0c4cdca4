"""A loop in the *interactive* client: agents in the background, and a person who types and is asked meanwhile."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from aotloop.app.plugin.allow_rules import add_rules, allow_rules
from aotloop.app.plugin.installation import find_installation
from tests.loops import a_loop, atom, write_accepted
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.modelserver.script import AS_IT_SHOULD_BE, Delivery, held_until
from tests.plugin.interactive import InteractiveSession, needs_tmux
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, is_session
from tests.plugin.test_scenarios import until_there
from tests.plugin.test_session import PLUGIN, Step, bash, loop_of, script
from tests.plugin.tokens import token_in

pytestmark = [needs_claude, needs_tmux]

ENTER = "/aot-loop:enter-recursion"
COORDINATE = "Coordinate the loop of here."


@pytest.fixture
def stage(tmp_path: Path, own_home: Path) -> Stage:
    return Stage(tmp_path / "stage", own_home)


def launch(kind: str, prompt: str) -> Call:
    """As an interactive client offers it: there is no `run_in_background`."""
    return Call(tool("Agent", description=kind, prompt=prompt, subagent_type=f"aot-loop:{kind}"))


def begin(atom_id: str) -> Call:
    return bash(script("update_atom", atom_id, "in_progress"))


def integrated(exchange: Exchange) -> Call:
    """From the last notice: the client says in it where the worktree is."""
    notice = next(text for text in reversed(exchange.texts) if "<worktreePath>" in text)
    place = notice.partition("<worktreePath>")[2].partition("<")[0]
    (atom_id,) = re.findall(r"did (A\d)", notice)
    words = ("--token", token_in(exchange, atom_id), "--next", "--worktree", Path(place).name)
    return bash(script("integrate", atom_id, *words, "--summary", f"'did {atom_id}'"))


def worker(atom_id: str, delivery: Delivery = AS_IT_SHOULD_BE) -> Script:
    def written(exchange: Exchange) -> Call:
        assert json.loads(exchange.results[0])["own_worktree"] is True
        return bash(f"echo x > {atom_id}.txt")

    answer = Say(f'{{"success": true, "summary": "did {atom_id}"}}', delivery=delivery)
    return Script(f"Atom {atom_id} ", [bash(script("read_state", "--atom", atom_id)), written, answer])


VERIFIER = Script("Verify the base case", [bash(script("verify_checklist")), Say('{"passed": true}')])


def commits(stage: Stage) -> list[str]:
    log = subprocess.run(
        ["git", "log", "--format=%(trailers:key=Aot-Atom,valueonly)"],
        cwd=stage.project,
        capture_output=True,
        check=True,
    )
    return sorted(log.stdout.decode().split())


def has_ended_a_turn(stage: Stage) -> bool:
    """With it end the permissions of the command that was typed, for agents that go on after that."""
    stops = stage.recorder.told("Stop")
    return bool(stops) and '"turn_duration"' in Path(stops[0]["transcript_path"]).read_text()


def coordinator(*atoms: str) -> Script:
    turns: list[Step] = [bash(script("read_state", "--brief")), begin(atoms[0])]
    for one in atoms:
        turns += [launch("worker", f"Atom {one} of the loop."), Say(f"waiting for {one}"), integrated]
    turns += [launch("verifier", "Verify the base case of here."), Say("waiting for the verifier"), Say("verified")]
    return Script(COORDINATE, turns)


@pytest.mark.parametrize(
    ("mode", "has_rules", "questions"),
    [("default", False, 7), ("default", True, 2), ("acceptEdits", False, 5), ("acceptEdits", True, 0)],
)
def test_the_person_is_asked_exactly_so_often_in_a_loop_of_two_atoms(
    stage: Stage, own_home: Path, mode: str, has_rules: bool, questions: int
) -> None:
    """Seen: 14 questions for three atoms. Agents in the background ask again for what the command permitted."""
    write_accepted(
        stage.project, a_loop(atom("A1"), atom("A2", "A1"), status="pending", base_case=until_there("A2.txt"))
    )
    if has_rules:
        (own_home / "claude").mkdir()
        add_rules(own_home / "claude" / "settings.json", allow_rules(find_installation()))
    session = [
        bash(script("enter_loop")),
        launch("coordinator", COORDINATE),
        Say("it works in the background"),
        bash(script("read_state", "--brief")),
        Say("it is completed"),
    ]
    scripts = [
        worker("A1", held_until(lambda: has_ended_a_turn(stage))),
        worker("A2"),
        VERIFIER,
        coordinator("A1", "A2"),
        Script(is_session, session),
    ]
    with (
        ModelServer(scripts) as server,
        InteractiveSession(stage, own_home, server, mode=mode, plugins=[PLUGIN]) as person,
    ):
        person.type(ENTER)
        person.reads("it is completed")
        assert server.lost == []
    assert (loop_of(stage).control.status, commits(stage)) == ("completed", ["A1", "A2"])
    assert "Async agent launched" in heard(server, COORDINATE)[-1].results[2]
    assert person.permitted == questions
    assert list((stage.project / ".claude" / "worktrees").glob("*")) == []


def stop_agent(exchange: Exchange) -> Call:
    """After a compaction, the session knows the agent's name only from the hook."""
    (name,) = re.findall(r"TaskStop with task_id (\w+)", exchange.results[0])
    return Call(tool("TaskStop", task_id=name))


def test_compaction_a_second_coordinator_a_second_session_and_a_redirect_in_mid_run(
    stage: Stage, own_home: Path, tmp_path: Path
) -> None:
    """Seen: each atom worked on twice after an async launch or /compact, and results from before a redirect merged."""
    write_accepted(stage.project, a_loop(atom("A1"), status="pending", base_case=until_there("A1.txt")))
    other = tmp_path / "other"
    again = f"{COORDINATE} Once more."
    session: list[Step] = [
        bash(script("enter_loop")),
        launch("coordinator", COORDINATE),
        launch("coordinator", again),
        Say("one works"),
        *[Say("this is the summary")] * 2,
    ]
    compacted: list[Step] = [
        launch("coordinator", again),
        Say("still one works"),
        bash(script("request_redirect")),
        Call(tool("ToolSearch", query="select:TaskStop", max_results=1)),
        stop_agent,
        bash(script("apply_correction", "retry", "--atom", "A1", "--description", "'another way'")),
        launch("coordinator", "Go on with the loop of here."),
        Say("another one works"),
        bash(script("read_state", "--brief")),
        Say("the loop is completed"),
    ]
    second = [bash(script("enter_loop")), Say("it was refused")]
    first_worker = Script(
        "Atom A1, first",
        [bash("touch A1-old.txt"), bash(f"until [ -e {other} ]; do sleep 0.1; done; echo x"), Say("{}")],
    )
    scripts = [
        Script("this is the summary", compacted),
        first_worker,
        worker("A1"),
        VERIFIER,
        Script(COORDINATE, [begin("A1"), launch("worker", "Atom A1, first"), Say("waiting for A1")]),
        Script(
            "Go on with the loop",
            [
                begin("A1"),
                launch("worker", "Atom A1 of the loop."),
                Say("waiting for A1"),
                integrated,
                launch("verifier", "Verify the base case of here."),
                Say("waiting"),
                Say("verified"),
            ],
        ),
        Script("a second session", second),
        Script("enter-recursion", session),
    ]
    with (
        ModelServer(scripts) as server,
        InteractiveSession(stage, own_home, server, mode="bypassPermissions", plugins=[PLUGIN]) as person,
    ):
        person.type(ENTER)
        person.reads("one works")
        refused = heard(server, "enter-recursion")[-1].results[-1]
        assert "runs already" in refused
        person.until(lambda: loop_of(stage).atoms[0].status == "in_progress")
        person.type("/compact")
        person.until_compacted()
        person.type("what now?")
        person.reads("still one works")
        with InteractiveSession(stage, own_home, server, mode="bypassPermissions", plugins=[PLUGIN]) as stranger:
            stranger.type("a second session")
            stranger.reads("it was refused")
        person.type("/aot-loop:redirect another way")
        person.reads("the loop is completed")
        other.touch()
        asked = [record.exchange for record in server.played]
    coordinators = {one.prompt for one in asked if one.prompt.startswith(COORDINATE)}
    assert coordinators == {COORDINATE}, "no second one was started"
    anchors = [text for one in asked for text in one.texts if "works in the background. Believe no other" in text]
    assert anchors, "after the compaction it is told that its coordinator runs"
    assert any("another session" in result for one in asked for result in one.results)
    assert (loop_of(stage).control.status, commits(stage)) == ("completed", ["A1"])
    assert not (stage.project / "A1-old.txt").exists(), "what was begun before the redirect does not count"
