"""One conversation takes several attempts: each is told its own work, billed for itself, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.agents.contract import Assignment, Backend, Crashed, Done, Outcome, Session, Sitting, Tokens
from aotloop.agents.roles import Role
from tests.agents.assignments import an_assignment, attempt
from tests.modelserver import Call, ModelServer, Script, Turn, Usage, stalled
from tests.modelserver.clients import needs_claude
from tests.modelserver.operators import DONE, backend_of, each_client, environ_of, patch, shell
from tests.patience import reached

FIRST, SECOND = Usage(input=1000, output=200, cache_read=30), Usage(input=70, output=5, cache_read=900)
NOBODY = Session(id="00000000-0000-4000-8000-000000000000")


class Scene:
    """A repository, a store that outlives attempts, and a client whose model is scripted."""

    def __init__(self, folder: Path, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client, self.folder, self._monkeypatch = client, folder, monkeypatch
        self.tree, self.store = folder / "tree", folder / "store"
        subprocess.run(["git", "init", "-q", self.tree], check=True)
        self.store.mkdir()
        self.attempts = 0

    def backend(self, server: ModelServer) -> Backend:
        for name, value in environ_of(self.client, server).items():
            self._monkeypatch.setenv(name, value)
        return backend_of(self.client)

    def assignment(self, prompt: str, session: Session | None, **more: Any) -> Assignment:
        self.attempts += 1
        given = {"scratch": self.folder / f"scratch-{self.attempts}", "attempt": self.attempts, "prompt": prompt}
        return an_assignment(self.folder, **given, sitting=Sitting(store=self.store, session=session), **more)

    def edit(self, name: str, usage: Usage) -> Turn:
        return Call(*patch(self.client, self.tree / name, f"{name}\n").calls, usage=usage)

    def parts(self, name: str, usage: Usage) -> Sequence[Turn]:
        return [self.edit(name, usage), changed(DONE, usage=usage)]


@pytest.fixture
def scene(tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Scene:  # noqa: ARG001
    return Scene(tmp_path, client, monkeypatch)


def tokens(usage: Usage) -> Tokens:
    return Tokens(input=usage.input, output=usage.output, cache_read=usage.cache_read, cache_write=usage.cache_write)


def conversations(home: Path, scene: Scene) -> list[Path]:
    """Whatever the client has left of them with the operator, or with an attempt."""
    found = [*home.rglob("*.jsonl"), *home.rglob("*.db"), *home.glob(".claude/projects/*")]
    return [*found, *(one for one in scene.folder.glob("scratch-*/*/") if one.name in {"codex", "opencode"})]


@each_client
def test_a_conversation_goes_on_and_each_attempt_pays_for_itself(scene: Scene, own_home: Path) -> None:
    turns = [*scene.parts("one.txt", FIRST), *scene.parts("two.txt", SECOND), *scene.parts("three.txt", FIRST)]
    with ModelServer([Script("first part", turns)]) as server:
        backend = scene.backend(server)
        assert backend.capabilities.sessions == "native"
        outcomes: list[Outcome] = []
        session = None
        for prompt in ("The first part", "The second part", "The third part"):
            outcomes.append(attempt(backend, scene.assignment(prompt, session)))
            session = outcomes[-1].session
            assert conversations(own_home, scene) == []
    assert server.lost == []
    assert [type(one) for one in outcomes] == [Done, Done, Done], outcomes
    assert [one.tokens for one in outcomes] == [tokens(usage + usage) for usage in (FIRST, SECOND, FIRST)]
    assert len({one.session.id for one in outcomes if one.session is not None}) == 1
    assert all(one.start is not None and 0 < one.start < one.seconds for one in outcomes)
    assert sorted(path.name for path in scene.tree.glob("*.txt")) == ["one.txt", "three.txt", "two.txt"]
    said = [one.request.body for one in server.played]
    assert all(b"The first part" in body for body in said)
    assert [b"The third part" in body for body in said] == [False] * 4 + [True] * 2
    costs = [one.cost_usd for one in outcomes]
    if scene.client == "claude":
        assert costs[0] == pytest.approx(costs[2])
        assert costs[0] != pytest.approx(costs[1])


@each_client
def test_one_whose_conversation_is_not_known_says_so_and_costs_nothing(scene: Scene) -> None:
    with ModelServer([Script("part", scene.parts("one.txt", FIRST))]) as server:
        outcome = attempt(scene.backend(server), scene.assignment("The second part", NOBODY))
    assert isinstance(outcome, Crashed)
    assert (outcome.cause, server.played) == ("no_session", [])
    assert outcome.tokens in (None, Tokens())


@each_client
def test_who_goes_on_may_do_no_more_than_before(scene: Scene, tmp_path: Path) -> None:
    """The rules of the first attempt hold for those that follow: it writes in its folder, and nowhere else."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    command = f"echo x > inside; echo x > {outside}"
    turns = [*scene.parts("one.txt", FIRST), shell(scene.client, command), DONE]
    if scene.client == "claude":  # its commands are kept in by Landlock, which needs no conversation
        turns = [*scene.parts("one.txt", FIRST), shell(scene.client, "env > inside"), DONE]
    with ModelServer([Script("first part", turns)]) as server:
        backend = scene.backend(server)
        first = attempt(backend, scene.assignment("The first part", None))
        second = attempt(backend, scene.assignment("The second part", first.session))
    assert isinstance(second, Done), second
    assert (scene.tree / "inside").exists()
    if scene.client == "codex":
        assert not outside.exists()
    if scene.client == "claude":
        assert "sk-scripted" not in (scene.tree / "inside").read_text()


@each_client
def test_one_that_is_cancelled_leaves_nothing_with_the_operator(scene: Scene, own_home: Path) -> None:
    with ModelServer([Script("part", [changed(DONE, delivery=stalled())])]) as server:
        backend = scene.backend(server)

        async def begun_and_cancelled() -> None:
            task = asyncio.create_task(backend.run(scene.assignment("The first part", None), lambda _: None))
            await reached(lambda: len(server.played) > 0, "it asks the model")
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

        asyncio.run(begun_and_cancelled())
    assert conversations(own_home, scene) == []


@pytest.mark.parametrize("role", ["probe", "verifier"])
@each_client
def test_without_a_sitting_no_conversation_is_kept(scene: Scene, own_home: Path, role: Role) -> None:
    with ModelServer([Script("part", [DONE])]) as server:
        assignment = replace(scene.assignment("The first part", None, role=role), sitting=None)
        outcome = attempt(scene.backend(server), assignment)
    assert outcome.session is None
    assert conversations(own_home, scene) == []
    assert [*scene.store.iterdir()] == []


@needs_claude
def test_what_a_conversation_cost_before_does_not_count_for_the_next_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    assert own_home.is_dir()
    scene = Scene(tmp_path, "claude", monkeypatch)
    costly = Usage(input=100_000, output=50_000)
    turns = [*scene.parts("one.txt", costly), *scene.parts("two.txt", FIRST), *[scene.edit("three.txt", costly)] * 20]
    with ModelServer([Script("first part", turns)]) as server:
        backend = scene.backend(server)
        first = attempt(backend, scene.assignment("The first part", None))
        assert first.cost_usd is not None
        share = first.cost_usd * 0.9
        second = attempt(backend, scene.assignment("The second part", first.session, max_cost_usd=share))
        third = attempt(backend, scene.assignment("The third part", second.session, max_cost_usd=share))
    assert (type(first), type(second)) == (Done, Done)
    assert (third.cause, len(server.played) < len(turns)) == ("budget", True)
