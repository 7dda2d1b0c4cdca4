"""The contract of makers in executable form: whoever makes an attempt, and wherever, the run sees the same."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Done, Failed, TimedOut
from aotloop.agents.registry import backend
from aotloop.core.checks.checklist import AllOf, Leaf
from aotloop.core.model import Check
from aotloop.execution.agent_pool import Seat
from aotloop.execution.attempts.maker import Brought, Lost, Maker, Order
from aotloop.execution.integration.protection import Protection
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.execution.journals.records import Kept, Work
from aotloop.execution.task import Task
from aotloop.git.repository import find_repository
from aotloop.git.worktrees.setup import Setup
from aotloop.process.spec import Limits
from tests.patience import FOREVER, PATIENCE, reached
from tests.repositories import new_repository

PROTECTION = Protection(patterns=("guarded/**",), agreed=("guarded/**",), files=(".claude",))


@dataclass
class Workshop:
    """A repository with one commit, and a maker for it."""

    root: Path
    worktrees: Worktrees
    maker: Maker
    heard: list[str]
    number: int = 0
    epoch: int = 0
    run_id: str = field(default_factory=lambda: f"r{os.urandom(5).hex()}")

    def git(self, *words: str) -> str:
        repository = find_repository(self.root)
        assert repository is not None
        return repository.git(*words).text

    @property
    def base(self) -> str:
        return self.git("rev-parse", "HEAD")

    def order(self, command: str, *, name: str = "A1", total: float | None = None, **more: Any) -> Order:
        self.number += 1
        task = Task(
            name=name,
            number=self.number,
            run_id=self.run_id,
            epoch=self.epoch,
            description="do it",
            command=command,
            **{key: value for key, value in more.items() if key != "start"},
        )
        seat = Seat(agent="shell", backend=backend("shell"), limits=Limits(total=total))
        return Order(task=task, seat=seat, start=more.get("start"))

    async def made(self, order: Order) -> Brought | Lost:
        async with self.maker.make(order) as brought:
            return brought

    def make(self, command: str, **more: Any) -> Brought:
        brought = asyncio.run(self.made(self.order(command, **more)))
        assert isinstance(brought, Brought), brought
        return brought


def a_repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    new_repository(folder)
    (folder / "guarded").mkdir()
    (folder / "guarded" / "file").write_text("as it is\n")
    (folder / "file").write_text("first\n")
    repository = find_repository(folder)
    assert repository is not None
    repository.git("add", ".")
    repository.git("commit", "--quiet", "-m", "first")
    return folder


def worktrees_of(root: Path, folder: Path) -> Worktrees:
    repository = find_repository(root)
    assert repository is not None
    return Worktrees(repository, folder=folder, setup=Setup(), protection=PROTECTION, fence=None)


def _leaf(name: str, command: str) -> Leaf:
    return Leaf(name, Check(type="command", value=command))


class MakerContract:
    """Subclasses have a fixture `workshop`."""

    def test_a_change_becomes_a_commit_on_the_start(self, workshop: Workshop) -> None:
        brought = workshop.make("echo second > file; mkdir -p new; echo n > new/n; chmod +x new/n")
        assert isinstance(brought.outcome, Done)
        assert isinstance(brought.work, Work)
        commit = brought.work.commit
        assert commit is not None
        assert (brought.work.base, workshop.git("rev-parse", f"{commit}^")) == (workshop.base, workshop.base)
        assert workshop.git("diff-tree", "-r", "--name-only", "--no-commit-id", commit).split() == ["file", "new/n"]
        assert workshop.git("ls-tree", commit, "new/n").startswith("100755 blob")
        trailers = workshop.git("log", "-1", "--format=%(trailers:only,unfold)", commit)
        assert f"Aot-Atom: A1\nAot-Attempt: 1\nAot-Run: {workshop.run_id}" in trailers
        assert workshop.git("rev-parse", "refs/aot/attempts/A1-1") == commit
        assert workshop.git("status", "--porcelain") == ""

    def test_without_a_change_there_is_work_without_a_commit(self, workshop: Workshop) -> None:
        brought = workshop.make("true")
        assert isinstance(brought.outcome, Done)
        assert isinstance(brought.work, Work)
        assert (brought.work.commit, brought.work.base) == (None, workshop.base)

    def test_a_failure_leaves_its_files_as_evidence(self, workshop: Workshop) -> None:
        brought = workshop.make("echo half > half; echo not today; exit 3")
        assert isinstance(brought.outcome, Failed)
        assert isinstance(brought.work, Work)
        assert workshop.git("show", f"{brought.work.commit}:half") == "half"
        assert workshop.git("rev-parse", "refs/aot/attempts/A1-1") == brought.work.commit

    def test_a_change_of_a_protected_path_is_refused(self, workshop: Workshop) -> None:
        brought = workshop.make("echo x > guarded/file; echo y > file")
        assert isinstance(brought.outcome, Done)
        assert isinstance(brought.work, Refusal)
        assert "guarded/file" in brought.work.reason

    def test_output_is_heard(self, workshop: Workshop) -> None:
        workshop.make("echo one; echo two")
        assert [line for line in workshop.heard if line in ("one", "two")] == ["one", "two"]

    def test_a_limit_of_time_ends_it(self, workshop: Workshop) -> None:
        brought = workshop.make(f"sleep {FOREVER}", total=0.5)
        assert isinstance(brought.outcome, TimedOut)

    def test_each_attempt_starts_clean_at_the_head(self, workshop: Workshop) -> None:
        workshop.make("echo left > left; exit 1")
        workshop.git("commit", "--quiet", "--allow-empty", "-m", "moved on")
        brought = workshop.make("test ! -e left && echo x > x")
        assert isinstance(brought.outcome, Done)
        assert isinstance(brought.work, Work)
        assert brought.work.base == workshop.base

    def test_the_work_of_an_earlier_attempt_can_be_there(self, workshop: Workshop) -> None:
        first = workshop.make("echo half > half; exit 1")
        assert isinstance(first.work, Work)
        start = Kept(commit=first.work.commit, attempt=1, held=("one",))
        second = workshop.make("cat half && echo whole > whole", start=start)
        assert isinstance(second.work, Work)
        assert second.start == start
        found = workshop.git("diff-tree", "-r", "--name-only", workshop.base, second.work.commit or "").split()
        assert found == ["half", "whole"]

    def test_a_check_that_ran_there_says_what_it_found(self, workshop: Workshop) -> None:
        check = AllOf("all", (_leaf("there", "test -f a"), _leaf("missing", "test -f b")))
        brought = workshop.make("echo a > a", check=check)
        if brought.found is not None:
            assert brought.found.holding == ("there",)
            assert list(brought.found.failing) == ["missing"]
            assert "missing" in (brought.found.problem or "")

    def test_cancelled_its_processes_are_dead(self, workshop: Workshop, tmp_path: Path) -> None:
        async def scenario() -> None:
            order = workshop.order(f"echo half > half; echo $$ > {tmp_path}/pid; exec sleep {FOREVER}")
            task = asyncio.create_task(workshop.made(order))
            pid = int(await reached(lambda: _text(tmp_path / "pid")))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, PATIENCE)
            assert not lives(pid)

        asyncio.run(scenario())

    def test_cancelled_twice_it_gives_no_grace(self, workshop: Workshop, tmp_path: Path) -> None:
        async def scenario() -> None:
            order = workshop.order(f"trap '' TERM; echo $$ > {tmp_path}/pid; while :; do sleep 0.1; done")
            task = asyncio.create_task(workshop.made(order))
            pid = int(await reached(lambda: _text(tmp_path / "pid")))
            task.cancel()
            asyncio.get_running_loop().call_later(0.3, task.cancel)
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, PATIENCE)
            await reached(lambda: not lives(pid))

        asyncio.run(scenario())

    def test_several_are_made_at_the_same_time(self, workshop: Workshop) -> None:
        async def scenario() -> list[Brought | Lost]:
            orders = [workshop.order(f"echo {n} > file-{n}", name=f"B{n}") for n in range(4)]
            return list(await asyncio.gather(*map(workshop.made, orders)))

        for number, brought in enumerate(asyncio.run(scenario())):
            assert isinstance(brought, Brought)
            assert isinstance(brought.work, Work)
            assert workshop.git("show", f"{brought.work.commit}:file-{number}") == str(number)


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or ") Z " not in status.read_text()
