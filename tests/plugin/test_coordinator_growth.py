"""The coordinator's requests stay small: what each iteration adds to them is measured."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.loops import a_loop, atom, write_accepted
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, is_session
from tests.plugin.test_scenarios import until_there
from tests.plugin.test_session import PLUGIN, Step, bash, loop_of, script, start
from tests.plugin.tokens import token_in

pytestmark = needs_claude

ATOMS = 5
MOST = 900
"""Bytes of texts and results in one iteration; most of them are the client's words around the report of a worker."""
MOST_IN_ALL = 1750
"""Bytes of the whole request, with the model's own calls and the client's frames."""


@pytest.fixture
def stage(tmp_path_factory: pytest.TempPathFactory, own_home: Path) -> Stage:
    """With a short path: it is in each result of a worker."""
    return Stage(tmp_path_factory.mktemp("g") / "s", own_home)


def begun(number: int) -> Call:
    """Only the first atom has to be started: with --next, `integrate` starts the others."""
    start_it = tool("Bash", command=script("update_atom", f"A{number}", "in_progress"), description="start")
    return Call(
        *([start_it] if number == 1 else []),
        tool(
            "Agent",
            description="work",
            prompt=f"Atom `A{number}` of the loop.",
            subagent_type="aot-loop:worker",
            run_in_background=False,
        ),
    )


def integrated(exchange: Exchange) -> Call:
    (number,) = re.findall(r"did A(\d+)", exchange.results[-1])
    place = Path(re.findall(r"worktreePath: (\S+)", exchange.results[-1])[-1]).name
    token = token_in(exchange, f"A{number}")
    words = ("--token", token, "--or-fail", "--next", "--worktree", place, "--summary", f"'did A{number}'")
    return bash(script("integrate", f"A{number}", *words))


def size(exchange: Exchange) -> int:
    return sum(len(text.encode()) for text in (*exchange.texts, *exchange.results))


def test_what_a_coordinator_is_told_grows_by_less_than_a_kilobyte_with_each_iteration(stage: Stage) -> None:
    chain = [atom("A1"), *(atom(f"A{number}", f"A{number - 1}") for number in range(2, ATOMS + 1))]
    write_accepted(stage.project, a_loop(*chain, status="pending", base_case=until_there(f"A{ATOMS}.txt")))
    steps: list[Step] = [bash(script("read_state", "--brief"))]
    for number in range(1, ATOMS + 1):
        steps += [begun(number), integrated]
    steps += [start(("verifier", "Verify the base case of here.")), Say("verified")]
    workers = [
        Script(
            f"Atom `A{number}` ", [bash(f"echo x > A{number}.txt"), Say(f'{{"success": true, "s": "did A{number}"}}')]
        )
        for number in range(1, ATOMS + 1)
    ]
    scripts = [
        *workers,
        Script("Verify the base case", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script("Coordinate the loop", steps),
        Script(is_session, [bash(script("enter_loop")), start(("coordinator", "Coordinate the loop.")), Say("ended")]),
    ]
    with ModelServer(scripts) as server:
        stage.run(server, "/aot-loop:enter-recursion", plugins=[PLUGIN])
        assert server.lost == []
        asked = heard(server, "Coordinate the loop")
    assert loop_of(stage).control.status == "completed"
    sizes = [size(one) for one in asked[1 : 2 * ATOMS : 2]]
    grown = [after - before for before, after in pairwise(sizes)]
    wires = [len(json.dumps(one.body)) for one in asked[1 : 2 * ATOMS : 2]]
    assert len(grown) == ATOMS - 1
    whole = [after - before for before, after in pairwise(wires)]
    figures = f"texts and results: {grown}; with the model's own calls and the client's frame: {whole}"
    later = slice(1, None)  # the first atom is started by a call of its own
    assert (max(grown[later]) <= MOST, max(whole[later]) <= MOST_IN_ALL) == (True, True), figures
