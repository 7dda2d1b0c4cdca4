"""Any OpenAI-compatible endpoint is an agent: the contract, with any program in the place of ours, and the real one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.answers.answer_schema import schema
from aotloop.agents.attempt.transcripts import steps_of
from aotloop.agents.attempt.usage import Price
from aotloop.agents.contract import (
    Assignment,
    Backend,
    Done,
    Failed,
    Garbage,
    Judged,
    Meter,
    MustWait,
    Outcome,
    Probed,
    TimedOut,
    Tokens,
)
from aotloop.agents.openai.backend import PROGRAM, OpenAi, make
from aotloop.agents.openai.order import METER, Endpoint, Tools
from aotloop.agents.registry import EndpointSettings, Settings
from aotloop.core.checks.checklist import Leaf
from aotloop.core.model import Check
from aotloop.errors import Unavailable
from aotloop.process.spec import Limits
from tests import warm
from tests.agents.assignments import an_assignment, attempt, transcript, worker_answer
from tests.agents.conformance import AnswerConformance
from tests.modelserver import (
    Call,
    Delivery,
    Fail,
    ModelServer,
    Refuse,
    Say,
    Script,
    Turn,
    Usage,
    cut,
    errors,
    garbled,
    silent,
    tool,
)
from tests.patience import reached, with_time_enough

CANARY = "sk-canary-of-the-endpoint"
DONE = Say("It is done.")


class TestConformance(AnswerConformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return OpenAi(program=(sys.executable, str(program))), {}


def agent(server: ModelServer, tools: Tools = "auto", **more: Any) -> OpenAi:
    return OpenAi(endpoint=Endpoint(base_url=f"{server.url}/v1", model="scripted", tools=tools), **more)


def warm_agent(server: ModelServer, tools: Tools = "auto", **more: Any) -> OpenAi:
    """Its process is forked from one that has imported what it needs; that takes longer than all else that it does."""
    return agent(server, tools, program=warm.program_of(PROGRAM[-1]), **more)


def answered(folder: Path, turns: Sequence[Turn], tools: Tools = "auto", **more: Any) -> tuple[Outcome, ModelServer]:
    with ModelServer([Script("", turns)]) as server:
        return attempt(warm_agent(server, tools), an_assignment(folder, **{"prompt": "Write a.py.", **more})), server


def all_of(assignment: Assignment) -> str:
    files = [path for path in assignment.scratch.rglob("*") if path.is_file()]
    return "".join(path.read_text(errors="replace") for path in files)


# --- with tools ----------------------------------------------------------------------------------------------------


def test_a_model_with_tools_works_until_it_says_that_it_is_done(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "b.py").write_text("old = 1\n")
    turns = [
        Call(tool("list", path=".")),
        Call(tool("read", path="b.py"), tool("search", words="old")),
        Call(tool("write", path="new/a.py", text="a = 1\n"), tool("patch", path="b.py", old="old", new="young")),
        DONE,
    ]
    outcome, server = answered(tmp_path, turns)
    assert isinstance(outcome, Done)
    assert (outcome.summary, outcome.artifacts) == ("It is done.", ("new/a.py", "b.py"))
    assert (tmp_path / "tree/new/a.py").read_text() == "a = 1\n"
    assert (tmp_path / "tree/b.py").read_text() == "young = 1\n"
    assert (outcome.tokens, outcome.turns) == (Tokens(input=40, output=20), 4)
    assert server.played[-1].exchange.results[1:3] == ("old = 1\n", "b.py:1: old = 1")


def test_the_check_of_the_atom_is_a_tool_and_shows_its_output(tmp_path: Path) -> None:
    check = Leaf("it is there", Check(type="command", value="echo looking; test -e a.py"))
    turns = [Call(tool("check")), Call(tool("write", path="a.py", text="")), Call(tool("check")), DONE]
    outcome, server = answered(tmp_path, turns, check=check)
    assert isinstance(outcome, Done)
    first, _, last = server.played[-1].exchange.results
    assert first == "it is there: not passed (exit 1)\nlooking"
    assert last == "it is there: passed (exit 0)\nlooking"


def test_only_a_worker_has_tools_that_change_something(tmp_path: Path) -> None:
    found = json.dumps({"feasible": True, "findings": "nothing speaks against it"})
    turns = [Call(tool("write", path="a.py", text="x")), Say(found)]
    outcome, server = answered(tmp_path, turns, role="probe", result_schema=schema("probe"))
    assert isinstance(outcome, Probed)
    assert {*server.played[0].exchange.tools} == {"list", "read", "search"}
    assert "there is no tool 'write'" in server.played[-1].exchange.results[0]
    assert not (tmp_path / "tree/a.py").exists()


def test_a_role_that_has_to_answer_in_a_form_is_asked_again_with_the_schema(tmp_path: Path) -> None:
    verdict = json.dumps({"passed": False, "evidence": "it is not", "failures": ["all"]})
    outcome, server = answered(
        tmp_path, [Say("I think not."), Say(verdict)], role="verifier", result_schema=schema("verifier")
    )
    assert isinstance(outcome, Judged)
    assert server.played[-1].exchange.schema == schema("verifier")
    assert not server.played[-1].exchange.tools


def test_who_calls_tools_for_ever_is_ended(tmp_path: Path) -> None:
    outcome, server = answered(tmp_path, [Call(tool("search", words=f"no {n}")) for n in range(50)])
    assert isinstance(outcome, Garbage)
    assert "did not come to an end within 40 turns" in outcome.reason
    assert len(server.played) == 40


def test_money_ends_an_attempt_when_its_share_is_used_up(tmp_path: Path) -> None:
    turn = Call(tool("list", path="."), usage=Usage(input=1000, output=0))
    with ModelServer([Script("", [turn] * 9)]) as server:
        backend = warm_agent(server, price=Price(input=1000.0))
        outcome = attempt(backend, an_assignment(tmp_path, prompt="Go.", max_cost_usd=2.5))
    assert isinstance(outcome, Failed)
    assert outcome.cause == "budget"
    assert len(server.played) == 3


def test_a_long_conversation_stays_within_the_context(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/long.txt").write_text(("word " * 500 + "\n") * 24)
    turns = [
        *(Call(tool("read", path="long.txt", line=n)) for n in range(12)),
        Call(tool("write", path="a.py", text="")),
        DONE,
    ]
    outcome, server = answered(tmp_path, turns)
    assert isinstance(outcome, Done)
    longest = max(len(record.request.body) for record in server.played)
    assert longest < 16_384 * 5
    assert server.played[-1].exchange.results[0].startswith("(left out")


# --- in one go -----------------------------------------------------------------------------------------------------


def test_a_model_without_tools_gets_the_files_and_gives_files_back(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/src.py").write_text("x = 1\n")
    said = "Here:\n```python src.py\nx = 2\n```\nand\n\n**docs/b.md**\n```md\n# B\n```\n"
    outcome, server = answered(tmp_path, [Say(said)], "no", prompt="Change src.py.")
    assert isinstance(outcome, Done)
    assert outcome.artifacts == ("src.py", "docs/b.md")
    assert (tmp_path / "tree/src.py").read_text() == "x = 2\n"
    assert (tmp_path / "tree/docs/b.md").read_text() == "# B\n"
    assert "```src.py\nx = 1\n```" in server.played[0].exchange.prompt
    assert "tools" not in server.played[0].exchange.body


def test_one_block_without_a_path_is_the_one_file_that_is_named(tmp_path: Path) -> None:
    outcome, _ = answered(tmp_path, [Say("```python\na = 1\n```")], "no", prompt="Write a.py.")
    assert isinstance(outcome, Done)
    assert (tmp_path / "tree/a.py").read_text() == "a = 1\n"


def test_a_server_that_refuses_tools_is_asked_in_one_go(tmp_path: Path) -> None:
    refusal = Fail(400, "invalid_request_error", "this model does not support tools")
    scripts = [Script(lambda exchange: bool(exchange.tools), [refusal]), Script("", [Say("```a.py\na = 1\n```")])]
    with ModelServer(scripts) as server:
        outcome = attempt(warm_agent(server), an_assignment(tmp_path, prompt="Write a.py."))
        forced = attempt(warm_agent(server, "yes"), an_assignment(tmp_path, prompt="Write b.py."))
    assert isinstance(outcome, Done)
    assert isinstance(forced, Garbage)
    assert "tools = false" in forced.reason
    assert "tools" not in server.played[1].exchange.body


def test_options_that_a_server_does_not_know_are_left_out(tmp_path: Path) -> None:
    wrong = [
        Fail(400, "invalid_request_error", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
        Fail(400, "invalid_request_error", "unknown field stream_options"),
    ]
    outcome, server = answered(tmp_path, [*wrong, Say("```a.py\na = 1\n```")], "no")
    assert isinstance(outcome, Done)
    body = server.played[-1].exchange.body
    assert "max_completion_tokens" in body
    assert not {"max_tokens", "stream_options"} & {*body}


def test_an_answer_that_is_cut_leaves_no_half_file(tmp_path: Path) -> None:
    outcome, _ = answered(tmp_path, [Say("```a.py\na = 1\nb = ")], "no")
    assert isinstance(outcome, Garbage)
    assert not (tmp_path / "tree/a.py").exists()


def test_tokens_that_the_server_does_not_count_are_estimated_and_it_is_said(tmp_path: Path) -> None:
    wrong = Fail(400, "invalid_request_error", "stream_options is unknown")
    turn = Say("```a.py\na = 1\n```", usage=Usage(input=-1, output=-1))
    outcome, _ = answered(tmp_path, [wrong, turn], "no")
    assert isinstance(outcome, Done)
    assert outcome.tokens is not None
    assert outcome.tokens.input > 10
    assert any("estimated" in note for note in outcome.notes)


# --- the service fails ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fail", "kind", "cause"),
    [
        (errors.rate_limited(30), MustWait, "rate_limit"),
        (errors.no_quota(), Failed, "quota"),
        (errors.unauthorized(), Failed, "auth"),
        (errors.too_long(), Failed, "too_long"),
        (Refuse(), Failed, "refusal"),
    ],
)
@pytest.mark.parametrize("role", ["worker", "judge"])
def test_trouble_with_the_service_has_its_cause(
    tmp_path: Path, fail: Turn, kind: type[Outcome], cause: str | None, role: str
) -> None:
    outcome, server = answered(tmp_path, [fail], role=role, result_schema=schema(role))  # type: ignore[arg-type]
    assert isinstance(outcome, kind)
    assert outcome.cause == cause
    assert len(server.played) == 1, "it is not asked again"
    if isinstance(outcome, MustWait):
        assert outcome.retry_after == 30


@pytest.mark.parametrize(
    "wrong",
    [
        errors.server_error(),
        errors.overloaded(),
        Say("never whole " * 20, delivery=cut()),
        Say("never whole " * 20, delivery=Delivery(events=3, then="end")),
        Say("never whole " * 20, delivery=garbled()),
    ],
    ids=["error", "overloaded", "cut", "ended", "garbled"],
)
def test_what_may_pass_is_tried_again(tmp_path: Path, wrong: Turn) -> None:
    outcome, _ = answered(tmp_path, [wrong, Say("```a.py\na = 1\n```")], "no")
    assert isinstance(outcome, Done)
    assert (tmp_path / "tree/a.py").read_text() == "a = 1\n"


def test_what_does_not_pass_has_to_wait(tmp_path: Path) -> None:
    outcome, server = answered(tmp_path, [errors.overloaded(503)] * 5, "no")
    assert isinstance(outcome, MustWait)
    assert outcome.cause == "overload"
    assert len(server.played) == 3


def test_no_server_has_to_wait_and_says_where_nothing_answers(tmp_path: Path) -> None:
    program = warm.program_of(PROGRAM[-1])
    backend = OpenAi(endpoint=Endpoint(base_url="http://127.0.0.1:9/v1", model="m"), program=program)
    outcome = attempt(backend, an_assignment(tmp_path, prompt="Go."))
    assert isinstance(outcome, MustWait)
    assert "no server answers at http://127.0.0.1:9/v1" in outcome.reason


def test_a_model_that_the_server_does_not_have_is_no_attempt(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="has no model scripted"):
        answered(tmp_path, [errors.unknown_model()])


def test_the_meter_tells_what_was_used_before_it_was_stopped_or_its_time_was_up(tmp_path: Path) -> None:
    turns = [Call(tool("list", path="."), usage=Usage(input=700, output=30)), Say("x", delivery=silent())]
    heard: list[str] = []

    async def stopped(server: ModelServer, meter: Meter) -> None:
        assignment = an_assignment(tmp_path, prompt="Go.", meter=meter)
        task = asyncio.create_task(agent(server).run(assignment, heard.append))
        await reached(lambda: len(server.played) == 2, "it asked only once")
        await reached(lambda: meter.tokens is not None, "it told nothing")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ModelServer([Script("", turns)]) as server:
        asyncio.run(stopped(server, meter := Meter()))
    assert meter.tokens == Tokens(input=700, output=30)
    late = with_time_enough(
        lambda limit: answered(tmp_path, turns, limits=Limits(total=limit))[0], lambda outcome: outcome.tokens
    )
    assert isinstance(late, TimedOut)
    assert late.tokens == Tokens(input=700, output=30)
    assert not any("usage" in line for line in [*heard, late.output]), "the meter is not shown"


def test_no_word_of_a_model_is_taken_for_the_meter(tmp_path: Path) -> None:
    forged = METER + json.dumps({"usage": {"input": 1, "output": 1}})
    meter = Meter()
    said = Say(f"{forged}\n```a.py\n1\n```\n{forged}", usage=Usage(input=700, output=30))
    outcome, _ = answered(tmp_path, [said], "no", meter=meter)
    assert outcome.tokens == meter.tokens == Tokens(input=700, output=30)


def test_it_is_stopped_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    async def stopped(server: ModelServer) -> None:
        task = asyncio.create_task(agent(server).run(an_assignment(tmp_path, prompt="Go."), lambda _: None))
        await reached(lambda: bool(server.played), "it asked nothing")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ModelServer([Script("", [Say("slow " * 500, delivery=Delivery(pause=0.2))])]) as server:
        asyncio.run(stopped(server))


# --- the key -------------------------------------------------------------------------------------------------------


def test_the_key_reaches_the_server_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", CANARY)
    look = "env; cat /proc/$PPID/environ /proc/$PPID/cmdline /proc/$PPID/fd/0; true"
    check = Leaf("look", Check(type="command", value=look))
    turns = [Call(tool("check")), Fail(401, "authentication_error", f"Incorrect API key provided: {CANARY}")]
    with ModelServer([Script("", turns)]) as server:
        assignment = an_assignment(tmp_path, prompt="Go.", check=check)
        outcome = attempt(agent(server, key="MY_KEY", pass_env=()), assignment)
    assert isinstance(outcome, Failed)
    assert "MY_KEY" in outcome.reason
    assert server.requests[-1].headers["authorization"] == f"Bearer {CANARY}"
    assert CANARY not in "".join(record.request.body.decode() for record in server.played)
    assert CANARY not in all_of(assignment) + repr(outcome)


# --- what it is made of --------------------------------------------------------------------------------------------


def test_the_settings_of_an_agent_are_those_of_its_endpoint() -> None:
    made = make(Settings(model="m", endpoint=EndpointSettings(base_url="http://localhost:1/v1", key="K", tools="no")))
    assert isinstance(made, OpenAi)
    assert (made.endpoint.model, made.endpoint.base_url, made.endpoint.tools) == ("m", "http://localhost:1/v1", "no")
    assert made.key_name == "K"


def test_openai_itself_has_its_usual_key_and_a_local_server_none() -> None:
    official = OpenAi(endpoint=Endpoint(base_url="https://api.openai.com/v1"))
    assert (official.key_name, OpenAi().key_name) == ("OPENAI_API_KEY", None)


def test_what_a_server_elsewhere_costs_is_known_only_by_its_price() -> None:
    far = Endpoint(base_url="https://models.example/v1")
    assert OpenAi().capabilities.cost_report == "emulated"
    assert OpenAi(endpoint=far).capabilities.cost_report == "missing"
    assert OpenAi(endpoint=far, price=Price()).capabilities.cost_report == "emulated"


def test_a_server_with_one_model_needs_no_name(tmp_path: Path) -> None:
    with ModelServer([Script("", [Say("```a.py\n1\n```")])]) as server:
        backend = OpenAi(
            endpoint=Endpoint(base_url=f"{server.url}/v1", tools="no"), program=warm.program_of(PROGRAM[-1])
        )
        assert isinstance(attempt(backend, an_assignment(tmp_path, prompt="Write a.py.")), Done)
    assert server.played[0].exchange.model == "scripted"


def test_the_words_of_the_model_are_in_the_transcript(tmp_path: Path) -> None:
    with ModelServer([Script("", [Say("First line.\nSecond " + worker_answer())])]) as server:
        assignment = an_assignment(tmp_path, prompt="Go.", records=tmp_path / "ours")
        assert isinstance(attempt(agent(server), assignment), Done)
    printed = [entry["text"] for entry in transcript(assignment)]
    assert "First line." in printed
    assert any(line.startswith(METER) for line in printed)
    shown = "".join(
        step.text for step in steps_of((assignment.evidence / "transcript.jsonl").read_bytes().splitlines())
    )
    assert "First line." in shown
    assert METER not in shown
    assert "estimated" not in shown, "the meter is for us"
