"""Whether an attempt goes on in a conversation: only if it is worth it, and nothing has come between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aotloop.agents.client.detection import Presence
from aotloop.agents.contract import Assignment, Capabilities, Done, Failed, Outcome, Session
from aotloop.execution.agent_pool import Seat
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.isolation.place import Place
from aotloop.execution.journals.records import Work
from aotloop.execution.task import Task
from aotloop.process.spec import Limits
from tests.agents.assignments import an_assignment


class Talker(msgspec.Struct, frozen=True, kw_only=True):
    """A backend whose conversations go on, with the times that it is told."""

    model: str = "one"
    start: float | None = 1.0
    seconds: float = 2.0
    is_able: bool = True
    succeeds: bool = True

    @property
    def name(self) -> str:
        return "talker"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(sessions="native" if self.is_able else "missing")

    def look(self) -> Presence:
        return Presence()

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        sitting = assignment.sitting
        on_output("nothing" if sitting is None else "anew" if sitting.session is None else "goes on")
        ended: dict[str, Any] = {"start": self.start, "seconds": self.seconds}
        session = Session(id="s") if sitting is not None else None
        if not self.succeeds:
            return Failed(reason="no", session=session, **ended)
        return Done(summary="did it", session=session, **ended)


class Bench:
    """Attempts in one place, one after another."""

    def __init__(self, folder: Path) -> None:
        self.merged: set[str] = set()
        self.folder = folder
        self.sittings = Conversations(folder / "stores", self.merged.__contains__)
        self.number = 0

    def attempt(
        self, backend: Talker, *, most: int = 8, epoch: int = 0, merged: bool = True, role: Any = "worker", **more: Any
    ) -> str:
        """How its conversation began."""
        self.number += 1
        heard: list[str] = []
        name = f"A{self.number}"
        task = Task(name=name, number=self.number, run_id="r", epoch=epoch, role=role, **more)
        place = Place(cwd=self.folder / "tree")
        seat = Seat(agent="talker", backend=backend, limits=Limits(), most=most)
        outcome = asyncio.run(self.sittings.run(seat, place, task, an_assignment(self.folder), heard.append))
        if isinstance(outcome, Done):
            self.sittings.checked(task, Work(commit=None))
        if merged:
            self.merged.add(name)
        (how,) = heard
        return how


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_conversation_goes_on_after_a_result_that_was_merged(bench: Bench) -> None:
    assert [bench.attempt(Talker()) for _ in range(3)] == ["anew", "goes on", "goes on"]


@pytest.mark.parametrize(
    ("start", "second"), [(None, "anew"), (0.0, "anew"), (0.1, "anew"), (0.11, "goes on"), (2.0, "goes on")]
)
def test_only_a_start_of_more_than_a_twentieth_is_worth_saving(bench: Bench, start: float | None, second: str) -> None:
    backend = Talker(start=start, seconds=2.0)
    assert [bench.attempt(backend), bench.attempt(backend)] == ["anew", second]


def test_it_is_the_whole_run_that_is_measured_and_only_what_began_anew(bench: Bench) -> None:
    assert bench.attempt(Talker(start=0.2, seconds=2.0)) == "anew"
    assert bench.attempt(Talker(start=0.2, seconds=2.0)) == "goes on"
    assert bench.attempt(Talker(start=0.0, seconds=100.0)) == "anew", "another backend"
    assert bench.attempt(Talker(start=0.0, seconds=100.0)) == "anew", "0.2 of 102 seconds"


@pytest.mark.parametrize(
    "second",
    [
        {"epoch": 1},
        {"backend": Talker(model="another")},
        {"failures": 1, "failures_in_turn": 1},
        {"most": 1},
        {"estimate": 16.0},
        {"agent": "talker"},
        {"role": "probe"},
    ],
)
def test_who_is_not_alike_does_not_go_on(bench: Bench, second: dict[str, Any]) -> None:
    assert bench.attempt(Talker()) == "anew"
    assert bench.attempt(**{"backend": Talker(), **second}) != "goes on"


@pytest.mark.parametrize("first", [{"merged": False}, {"backend": Talker(succeeds=False)}, {"agent": "talker"}])
def test_nobody_goes_on_after_what_was_not_merged(bench: Bench, first: dict[str, Any]) -> None:
    bench.attempt(**{"backend": Talker(), **first})
    assert bench.attempt(Talker()) == "anew"


def test_what_cannot_go_on_is_told_of_no_sitting(bench: Bench) -> None:
    assert [bench.attempt(Talker(is_able=False)) for _ in range(2)] == ["nothing", "nothing"]
    assert not (bench.folder / "stores").exists()


def test_at_the_end_nothing_is_left(bench: Bench) -> None:
    bench.attempt(Talker())
    assert (bench.folder / "stores").is_dir()
    bench.sittings.close()
    assert not (bench.folder / "stores").exists()
