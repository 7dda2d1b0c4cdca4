"""A service that falls silent, or drops the connection, is out: no client's attempt at an atom is charged for it.

And what an attempt has used is known while it still works: it may be stopped, redirected or killed at any time.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.agents.contract import Backend, Meter, Outcome, Tokens
from aotloop.agents.registry import EndpointSettings, Settings, backend
from aotloop.config.schema import Config
from aotloop.execution.agent_pool import AgentPool, Seat
from aotloop.execution.availability import Availability
from aotloop.execution.task import Task
from aotloop.process.spec import Limits
from tests.agents.assignments import an_assignment, attempt
from tests.modelserver import Call, Delivery, ModelServer, Say, Script, Usage, cut, silent, stalled, tool
from tests.modelserver.clients import CLIENTS, needs
from tests.modelserver.operators import MODELS, backend_of, environ_of, shell
from tests.patience import PATIENCE, reached

USED = Usage(input=700, output=30)
ASKING = """
import json, sys, urllib.request
def asked(text):
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(sys.argv[1] + "/chat/completions", json.dumps(body).encode())
    for line in urllib.request.urlopen(request):
        print(line.decode().strip(), flush=True)
asked("part")
print(json.dumps({"usage": {"input": 700, "output": 30}}), flush=True)
asked("part")
"""
"""A program that asks its model by itself, and tells what it has used."""


def kinds(*names: str) -> pytest.MarkDecorator:
    real = [pytest.param(name, marks=needs("opencode" if name == "acp" else name)) for name in names if name in _REAL]
    return pytest.mark.parametrize("kind", [*real, *(name for name in names if name not in _REAL)])


_REAL = (*CLIENTS, "acp")


class Scene:
    """A client whose model is scripted."""

    def __init__(self, folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.kind, self._monkeypatch = folder, kind, monkeypatch
        self._client = "opencode" if kind == "acp" else kind
        subprocess.run(["git", "init", "-q", folder / "tree"], check=True)

    def backend(self, server: ModelServer) -> Backend:
        if self.kind == "openai":
            endpoint = EndpointSettings(base_url=f"{server.url}/v1")
            return backend("openai", Settings(model="scripted", endpoint=endpoint))
        if self.kind == "command":
            (self.folder / "program.py").write_text(ASKING)
            return backend(
                "command", Settings(argv=(sys.executable, str(self.folder / "program.py"), f"{server.url}/v1"))
            )
        for name, value in environ_of(self._client, server).items():
            self._monkeypatch.setenv(name, value)
        if self.kind == "acp":
            argv = (str(CLIENTS["opencode"]), "acp")
            passed = (MODELS, "OPENCODE_CONFIG_CONTENT")
            return backend("acp", Settings(argv=argv, model="scripted/scripted", pass_env=passed))
        return backend_of(self.kind)

    def script(self, delivery: Delivery) -> list[Script]:
        """One answer that is paid for, and then no more."""
        first = {"openai": Call(tool("list", path="."), usage=USED), "command": Say("yes", usage=USED)}
        begins = first.get(self.kind) or Call(*shell(self._client, "true").calls, usage=USED)
        return [Script("part", [begins, *[Say("x " * 200, delivery=delivery)] * 40])]


@pytest.fixture
def scene(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Scene:  # noqa: ARG001
    return Scene(tmp_path, kind, monkeypatch)


def is_excused(made_by: Backend, outcome: Outcome) -> bool:
    """Whether a run takes the agent for the cause, and not the atom."""
    config = Config()
    pool = AgentPool(config, lambda *_: (made_by, Limits()), Availability(60.0))
    task = Task(name="A1", number=1, run_id="run-1", epoch=0)
    return pool.take_note(Seat(agent="mine", backend=made_by, limits=Limits()), task, outcome)


@pytest.mark.parametrize("delivery", [silent(), stalled()], ids=["silent", "stalled"])
@kinds("claude", "opencode", "acp", "openai", "command")
def test_no_atom_is_charged_for_a_service_that_falls_silent(scene: Scene, delivery: Delivery) -> None:
    assert_not_charged(scene, delivery)


@kinds("claude", "opencode", "acp", "openai")
def test_no_atom_is_charged_for_a_service_that_drops_the_connection(scene: Scene) -> None:
    """Of a program that crashes we do not know why, unless it tells: see `cause` in docs/configuration.md."""
    assert_not_charged(scene, cut())


def assert_not_charged(scene: Scene, delivery: Delivery) -> None:
    limits = Limits(start_up=PATIENCE, inactivity=6, total=PATIENCE)
    with ModelServer(scene.script(delivery)) as server:
        made_by = scene.backend(server)
        outcome = attempt(made_by, an_assignment(scene.folder, prompt="The part", limits=limits, grace=0.2))
    assert is_excused(made_by, outcome), outcome
    if scene.kind != "acp":  # it tells no tokens on the way
        assert outcome.tokens is not None
        assert (outcome.tokens.input >= 700, outcome.tokens.output >= 30) == (True, True)
    assert len(server.played) <= 25


@kinds("claude", "codex", "opencode", "openai", "command")
def test_what_was_used_is_known_while_it_works(scene: Scene) -> None:
    meter = Meter()

    async def stopped(made_by: Backend) -> None:
        assignment = an_assignment(scene.folder, prompt="The part", meter=meter, grace=0.2)
        task = asyncio.create_task(made_by.run(assignment, lambda _: None))
        await reached(lambda: meter.tokens is not None, "it told nothing while it worked")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ModelServer(scene.script(silent())) as server:
        asyncio.run(stopped(scene.backend(server)))
    assert meter.tokens == Tokens(input=700, output=30)
