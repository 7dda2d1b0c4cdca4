"""Any agent that speaks the protocol keeps to the contract, whatever it says, asks for and leaves out."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.acp.backend import Acp, make
from aotloop.agents.acp.presets import OTHER, PRESETS
from aotloop.agents.contract import (
    Assignment,
    Backend,
    Crashed,
    Done,
    Failed,
    Garbage,
    Judged,
    Meter,
    MustWait,
    Outcome,
    Probed,
    Tokens,
)
from aotloop.agents.registry import Settings
from aotloop.errors import AotError, Unavailable
from tests.agents import acp_stand_in
from tests.agents.acp_stand_in import chunk
from tests.agents.assignments import an_assignment, attempt, worker_answer
from tests.agents.conformance import AnswerConformance
from tests.patience import reached


class TestAcpPlayed(AnswerConformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return make(Settings(argv=(sys.executable, acp_stand_in.__file__, str(program)))), {}

    def line(self, answer: str) -> str:
        return chunk(answer)

    def printed(self, assignment: Assignment) -> list[str]:
        return [line for line in super().printed(assignment) if '"result"' not in line]


# --- an agent by a script ------------------------------------------------------------------------------------------

SCRIPTED = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)

def ask(method, **params):
    send(id="ours", method=method, params=params)
    return hear()

def say(text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s", "update": update})

def prompted(**session):
    first = hear()
    send(id=first["id"], result={"protocolVersion": 1})
    opened = hear()
    send(id=opened["id"], result={"sessionId": "s", **session})
    return hear()
"""


def played(folder: Path, program: str, *, model: str | None = None, **more: Any) -> Outcome:
    """Of an agent that runs this after the prompt, which is `asked`; then it waits for its end."""
    return attempt(backend_of(folder, program, model), an_assignment(folder, **more))


def backend_of(folder: Path, program: str, model: str | None = None) -> Acp:
    file = folder / "agent.py"
    opening = "" if "prompted(" in program or "hear()" in program else "asked = prompted()\n"
    file.write_text(f"{SCRIPTED}\n{opening}{program}\nsys.stdin.read()\n")
    return Acp(preset=_preset(file), model=model)


def _preset(file: Path) -> Any:
    return OTHER.__class__(argv=(sys.executable, str(file)), install=OTHER.install, log_in=OTHER.log_in)


END = 'send(id=asked["id"], result={"stopReason": "end_turn"})'
SAYS_DONE = f"say({worker_answer()!r}); {END}"


# --- how it ends ---------------------------------------------------------------------------------------------------


def test_an_answer_in_pieces_is_put_together(tmp_path: Path) -> None:
    whole = worker_answer()
    outcome = played(tmp_path, f"for letter in {whole!r}: say(letter)\n{END}")
    assert isinstance(outcome, Done)
    assert outcome.output == whole + "\n"


def test_tokens_and_cost_are_told_where_they_are(tmp_path: Path) -> None:
    usage = {"inputTokens": 5, "outputTokens": 6, "thoughtTokens": 1, "cachedReadTokens": 7, "totalTokens": 19}
    cost = {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.25, "currency": "USD"}}
    program = f"""
send(method="session/update", params={{"sessionId": "s", "update": {cost}}})
say({worker_answer()!r})
send(id=asked["id"], result={{"stopReason": "end_turn", "usage": {usage}}})
"""
    outcome = played(tmp_path, program)
    assert isinstance(outcome, Done)
    assert outcome.tokens == Tokens(input=5, output=7, cache_read=7)
    assert outcome.cost_usd == 0.25


def test_the_cost_so_far_is_known_while_it_works_and_only_grows(tmp_path: Path) -> None:
    updates = [
        {"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": amount, "currency": "USD"}}
        for amount in (0.1, 0.25, 0)
    ]
    program = f"""
for update in {updates}: send(method="session/update", params={{"sessionId": "s", "update": update}})
"""
    meter = Meter()

    async def stopped() -> None:
        assignment = an_assignment(tmp_path, meter=meter)
        task = asyncio.create_task(backend_of(tmp_path, program).run(assignment, lambda _: None))
        await reached(lambda: meter.cost_usd == 0.25, "it told nothing while it worked")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert meter.cost_usd == 0.25


def test_what_was_said_before_a_tool_was_called_is_not_the_answer(tmp_path: Path) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "test"}
    program = f"say({worker_answer()!r}); send(method='session/update', params={{'update': {call}}}); say('Hm.'); {END}"
    assert isinstance(played(tmp_path, program), Garbage)


@pytest.mark.parametrize(
    ("stop", "kind", "cause"),
    [("refusal", Failed, "refusal"), ("max_tokens", Crashed, None), ("cancelled", Crashed, None), (7, Crashed, None)],
)
def test_a_turn_that_was_stopped_is_no_success(tmp_path: Path, stop: Any, kind: type, cause: str | None) -> None:
    said = f"say({worker_answer()!r}); send(id=asked['id'], result={{'stopReason': {stop!r}}})"
    outcome = played(tmp_path, said)
    assert isinstance(outcome, kind)
    assert outcome.cause == cause


@pytest.mark.parametrize(
    ("error", "kind", "cause"),
    [
        ({"code": -32000, "message": "Authentication required"}, Failed, "auth"),
        (
            {"code": -32603, "message": "Internal error", "data": {"details": "429 Too Many Requests"}},
            MustWait,
            "rate_limit",
        ),
        ({"code": -32603, "message": "who knows"}, Crashed, None),
        ("not even an object", Crashed, None),
    ],
)
def test_an_error_says_what_it_means(tmp_path: Path, error: Any, kind: type, cause: str | None) -> None:
    outcome = played(tmp_path, f"send(id=asked['id'], error={error!r})")
    assert isinstance(outcome, kind)
    assert outcome.cause == cause


def test_who_speaks_another_version_is_not_spoken_to(tmp_path: Path) -> None:
    outcome = played(tmp_path, "first = hear(); send(id=first['id'], result={'protocolVersion': 2}); assert not hear()")
    assert isinstance(outcome, Crashed)
    assert "version 2" in outcome.reason


def test_who_does_not_end_when_it_is_done_is_ended(tmp_path: Path) -> None:
    outcome = played(tmp_path, f"{SAYS_DONE}\nimport time; time.sleep(3600)")
    assert isinstance(outcome, Done)


@pytest.mark.parametrize(
    "nonsense",
    [
        "send(id=77, result={})",
        "send(id='x', result=5)",
        "send(method='session/update', params=[])",
        "send(method='session/update', params={'update': {'sessionUpdate': 'agent_message_chunk', 'content': 5}})",
        "send(method=5)",
        "print('[1]')",
        "print('5')",
        "send(method='$/unheard_of', params={})",
    ],
)
def test_what_makes_no_sense_is_left_out(tmp_path: Path, nonsense: str) -> None:
    assert isinstance(played(tmp_path, f"{nonsense}\n{SAYS_DONE}"), Done)


# --- what it asks ----------------------------------------------------------------------------------------------------


def test_what_it_is_told_and_offered(tmp_path: Path) -> None:
    program = f"""
first = hear()
send(id=first["id"], result={{"protocolVersion": 1}})
opened = hear()
send(id=opened["id"], result={{"sessionId": "s"}})
asked = hear()
open("heard", "w").write(json.dumps([first, opened, asked]))
{SAYS_DONE}
"""
    assert isinstance(played(tmp_path, program, prompt="grün \ud800"), Done)
    first, opened, asked = json.loads((tmp_path / "tree" / "heard").read_text())
    files = {"readTextFile": True, "writeTextFile": True}
    assert first["params"]["clientCapabilities"] == {"fs": files, "terminal": False}
    assert opened["params"] == {"cwd": str(tmp_path / "tree"), "mcpServers": []}
    assert asked["params"] == {"sessionId": "s", "prompt": [{"type": "text", "text": "grün ?"}]}


@pytest.mark.parametrize(
    ("session", "method"),
    [
        ({"configOptions": [{"id": "m", "category": "model"}]}, "session/set_config_option"),
        ({}, "session/set_model"),
    ],
)
def test_a_model_is_chosen_before_it_is_prompted(tmp_path: Path, session: dict[str, Any], method: str) -> None:
    program = f"""
chosen = prompted(**{session})
send(id=chosen["id"], result={{}})
asked = hear()
assert (chosen["method"], asked["method"]) == ({method!r}, "session/prompt")
assert "big" in (chosen["params"].get("value"), chosen["params"].get("modelId"))
{SAYS_DONE}
"""
    assert isinstance(played(tmp_path, program, model="big"), Done)


def test_files_are_read_and_written_by_us_within_its_folder(tmp_path: Path) -> None:
    program = f"""
import os
asked = prompted()
here = os.getcwd()
ask("fs/write_text_file", sessionId="s", path=here + "/new/made", content="one\\ntwo\\nthree\\n")
got = ask("fs/read_text_file", sessionId="s", path=here + "/new/made", line=2, limit=1)
assert got["result"] == {{"content": "two\\n"}}, got
for path in ("/etc/passwd", here + "/../state.md", 5):
    assert "error" in ask("fs/read_text_file", path=path)
    assert "error" in ask("fs/write_text_file", path=path, content="x")
assert "error" in ask("fs/write_text_file", path=here + "/.git/config", content="x")
assert ask("terminal/create", command="ls")["error"]["code"] == -32601
{SAYS_DONE}
"""
    outcome = played(tmp_path, program)
    assert isinstance(outcome, Done), outcome
    assert not (tmp_path / "state.md").exists()


@pytest.mark.parametrize(("role", "chosen"), [("worker", "yes"), ("probe", "no"), ("verifier", "no")])
def test_permission_is_given_by_role(tmp_path: Path, role: str, chosen: str) -> None:
    options = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]
    program = f"""
got = ask("session/request_permission", sessionId="s", toolCall={{"kind": "execute"}}, options={options})
say(json.dumps({{"success": True, "feasible": True, "passed": True, "findings": str(got), "evidence": str(got),
    "bindings_delta": {{"summary": str(got)}}}})); {END}
"""
    outcome = played(tmp_path, program, role=role)
    assert isinstance(outcome, Done | Probed | Judged)
    assert f"'optionId': '{chosen}'" in str(outcome)


def test_a_missing_agent_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="correct the agent's argv"):
        attempt(make(Settings(argv=("/no/such/agent",))), an_assignment(tmp_path))


# --- which agent it is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_chosen_by_its_name(name: str) -> None:
    backend = make(Settings(program=name))
    assert isinstance(backend, Acp)
    assert backend.preset == PRESETS[name]


def test_without_a_program_there_is_no_agent() -> None:
    with pytest.raises(AotError, match="needs argv"):
        make(Settings())
