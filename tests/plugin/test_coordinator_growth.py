"""The coordinator's requests stay small: what each iteration adds to them is measured, and by whom.

A request holds what we decide (the inputs of tools, answers of our scripts, reports of our agents) and what the client
writes around it. The second part is measured as well: it shows when a new version of the client writes more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.loops import a_loop, atom, write_accepted
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_claude
from tests.plugin.interactive import InteractiveSession, needs_tmux
from tests.plugin.runs import heard
from tests.plugin.stage import Stage, is_session
from tests.plugin.test_scenarios import until_there
from tests.plugin.test_session import PLUGIN, Step, bash, loop_of, script
from tests.plugin.tokens import token_in

pytestmark = [needs_claude, needs_tmux]

ATOMS = 5
COORDINATE = "Coordinate the loop of here."
MOST_OF_OURS = 750
MOST_OF_THE_CLIENT = {"headless": 1300, "interactive": 3200}
SUMMARY = "did A{}: the parser reads quoted fields, `read_rows` in src/rows.py gives them one by one"


@pytest.fixture
def stage(tmp_path_factory: pytest.TempPathFactory, own_home: Path) -> Stage:
    """With a short path: the client writes it into each result of a worker."""
    return Stage(tmp_path_factory.mktemp("g") / "s", own_home)


def agent(kind: str, prompt: str, **more: Any) -> Call:
    return Call(tool("Agent", description=kind, prompt=prompt, subagent_type=f"aot-loop:{kind}", **more))


def integrated(exchange: Exchange) -> Call:
    """From the last report or notice: the client says in it where the worktree is."""
    report = next(text for text in reversed([*exchange.texts, *exchange.results]) if "worktreePath" in text)
    (number,) = re.findall(r"did A(\d+)", report)
    place = Path(re.findall(r"worktreePath(?:>|: )([^\s<]+)", report)[-1]).name
    words = ("--next", "--token", token_in(exchange, f"A{number}"), "--worktree", place)
    return bash(script("integrate", f"A{number}", *words, "--summary", f"'{SUMMARY.format(number)}'"))


def worker(number: int) -> Script:
    report = {"success": True, "bindings_delta": {"summary": SUMMARY.format(number)}}
    return Script(f"Atom `A{number}` ", [bash(f"echo x > A{number}.txt"), Say(json.dumps(report))])


def scripts(**more: Any) -> list[Script]:
    waiting: list[Step] = [] if more else [Say("waiting")]
    steps: list[Step] = [bash(script("read_state", "--brief")), bash(script("update_atom", "A1", "in_progress"))]
    for number in range(1, ATOMS + 1):
        steps += [agent("worker", f"Atom `A{number}` of the loop.", **more), *waiting, integrated]
    steps += [agent("verifier", "Verify the base case of here.", **more), *waiting, Say("verified")]
    begin = [bash(script("enter_loop")), agent("coordinator", COORDINATE, **more)]
    look = [] if more else [Say("it works"), bash(script("read_state", "--brief"))]
    return [
        *map(worker, range(1, ATOMS + 1)),
        Script("Verify the base case", [bash(script("verify_checklist")), Say('{"passed": true}')]),
        Script(COORDINATE, steps),
        Script(is_session, [*begin, *look, Say("it has ended")]),
    ]


def requests_of(kind: str, stage: Stage, home: Path) -> list[Exchange]:
    more = {"run_in_background": False} if kind == "headless" else {}
    with ModelServer(scripts(**more)) as server:
        if kind == "headless":
            stage.run(server, "/aot-loop:enter-recursion", plugins=[PLUGIN])
        else:
            with InteractiveSession(stage, home, server, mode="bypassPermissions", plugins=[PLUGIN]) as person:
                person.type("/aot-loop:enter-recursion")
                person.reads("it has ended")
        assert server.lost == []
        return heard(server, COORDINATE)


def wire(value: object) -> int:
    """Bytes, as a client writes it."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def ours(messages: list[dict[str, Any]]) -> Iterator[int]:
    """The bytes that our texts and scripts decide: inputs, answers, reports and what is said."""
    for message in messages:
        parts = [{"type": "text", "text": message["content"]}] if isinstance(message["content"], str) else []
        for part in parts or message["content"]:
            if part["type"] == "tool_use":
                yield wire(part["input"])
            elif message["role"] == "assistant":
                yield wire(part.get("text", ""))
            else:
                content = part.get("content", part.get("text", ""))
                text = content if isinstance(content, str) else "".join(one["text"] for one in content)
                report = re.search(r'\{"success".*\}', text)
                yield wire(report[0] if report else "")


@pytest.mark.parametrize("kind", MOST_OF_THE_CLIENT)
def test_what_we_decide_of_a_coordinators_request_grows_by_far_less_than_a_kilobyte_with_each_iteration(
    stage: Stage, own_home: Path, kind: str
) -> None:
    chain = [atom("A1"), *(atom(f"A{number}", f"A{number - 1}") for number in range(2, ATOMS + 1))]
    write_accepted(stage.project, a_loop(*chain, status="pending", base_case=until_there(f"A{ATOMS}.txt")))
    asked = requests_of(kind, stage, own_home)
    assert loop_of(stage).control.status == "completed"
    integrating = [one for one in asked if '"begun"' in (one.results or [""])[-1]]
    after = list({len(one.body["messages"]): one.body["messages"] for one in integrating}.values())
    assert len(after) == ATOMS - 1
    added = [now[len(before) :] for before, now in pairwise(after)]
    assert all(added)
    of_ours = [sum(ours(messages)) for messages in added]
    of_the_client = [sum(map(wire, messages)) - mine for messages, mine in zip(added, of_ours, strict=True)]
    figures = f"ours: {of_ours}; the client's: {of_the_client}"
    assert max(of_ours) <= MOST_OF_OURS, figures
    assert max(of_the_client) <= MOST_OF_THE_CLIENT[kind], figures
