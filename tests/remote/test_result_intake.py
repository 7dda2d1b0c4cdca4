"""A result is treated like an agent's, whatever a worker says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.agents.attempt.usage import Price
from aotloop.agents.contract import Done, Probed
from aotloop.agents.registry import backend
from aotloop.errors import Unavailable
from aotloop.execution.agent_pool import Seat
from aotloop.execution.attempts.maker import Order
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.journals.records import Work
from aotloop.execution.task import Task
from aotloop.git.commits.transfer import thin_pack
from aotloop.git.repository import Repository, find_repository
from aotloop.process.spec import Limits
from aotloop.remote.result_intake import ResultIntake
from aotloop.remote.wire import AttemptOrder, AttemptResult
from tests.execution.makers import PROTECTION, a_repository


class Bench:
    def __init__(self, folder: Path) -> None:
        found = find_repository(a_repository(folder / "project"))
        assert found is not None
        self.repository: Repository = found
        self.base = found.git("rev-parse", "HEAD").text
        self.intake = ResultIntake(found, PROTECTION, None)
        task = Task(name="A1", number=7, run_id="r", epoch=0, description="do it")
        price = Price(input=1.0, output=1.0, cache_read=1.0, cache_write=1.0)
        self.order = Order(task=task, seat=Seat(agent="shell", backend=backend("shell"), limits=Limits(), price=price))
        self.sent = AttemptOrder(
            run_id="r", atom="A1", attempt=7, epoch=0, repository="p", base=self.base, agent="shell"
        )

    def tree(self, *entries: str) -> str:
        """The tree of the start, with these lines of `git ls-tree` in addition."""
        listed = self.repository.git("ls-tree", self.base).out + "".join(f"{line}\n" for line in entries).encode()
        return self.repository.git("mktree", "--missing", stdin=listed).text

    def blob(self, text: bytes = b"x\n") -> str:
        return self.repository.git("hash-object", "-w", "--stdin", stdin=text).text

    def result(self, tree: str | None, **more: object) -> AttemptResult:
        pack = thin_pack(self.repository, tree, self.base) if tree is not None else b""
        fields = {"outcome": Done(summary="done"), "pack": pack, **more}
        return AttemptResult(run_id="r", atom="A1", attempt=7, epoch=0, kind="made", tree=tree, **fields)  # type: ignore[arg-type]

    def work(self, result: AttemptResult) -> Work | Refusal | None:
        return self.intake.brought(self.order, self.sent, result).work


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_commit_is_made_here(bench: Bench) -> None:
    work = bench.work(bench.result(bench.tree(f"100644 blob {bench.blob()}\tnew")))
    assert isinstance(work, Work)
    assert bench.repository.git("log", "-1", "--format=%an %s", work.commit or "").text == "A Person A1: do it"
    assert not work.is_checked


def test_a_protected_path_is_refused_although_the_worker_says_nothing_of_it(bench: Bench) -> None:
    guarded = bench.repository.git("mktree", stdin=f"100644 blob {bench.blob()}\tfile\n".encode()).text
    listed = [line for line in bench.repository.git("ls-tree", bench.base).text.splitlines() if "guarded" not in line]
    entries = "\n".join([*listed, f"040000 tree {guarded}\tguarded"]) + "\n"
    tree = bench.repository.git("mktree", stdin=entries.encode()).text
    work = bench.work(bench.result(tree))
    assert isinstance(work, Refusal)
    assert "guarded/file" in work.reason


def test_a_submodule_is_refused(bench: Bench) -> None:
    work = bench.work(bench.result(bench.tree(f"160000 commit {bench.base}\tinner")))
    assert isinstance(work, Refusal)
    assert "inner" in work.reason


def test_a_tree_that_is_the_start_is_no_change(bench: Bench) -> None:
    same = bench.repository.git("rev-parse", "HEAD^{tree}").text
    work = bench.work(bench.result(same))
    assert isinstance(work, Work)
    assert work.commit is None


@pytest.mark.parametrize("tree", ["0" * 40, "HEAD", "--help", "refs/heads/main"])
def test_a_tree_that_is_none_is_refused(bench: Bench, tree: str) -> None:
    result = AttemptResult(
        run_id="r", atom="A1", attempt=7, epoch=0, kind="made", tree=tree, outcome=Done(summary="done")
    )
    with pytest.raises(Unavailable):
        bench.work(result)


def test_a_ref_of_another_attempt_is_refused(bench: Bench) -> None:
    with pytest.raises(Unavailable, match="another attempt"):
        bench.work(_with_ref())


def _with_ref() -> AttemptResult:
    return AttemptResult(
        run_id="r",
        atom="A1",
        attempt=7,
        epoch=0,
        kind="made",
        tree="0" * 40,
        ref="refs/heads/main",
        outcome=Done(summary="done"),
    )


def test_a_probe_that_brings_files_has_changed_some(bench: Bench) -> None:
    tree = bench.tree(f"100644 blob {bench.blob()}\tnew")
    result = bench.result(tree, outcome=Probed(feasible=True, findings="yes"))
    assert not bench.intake.brought(bench.order, bench.sent, result).is_untouched


def test_a_result_without_an_outcome_is_refused(bench: Bench) -> None:
    with pytest.raises(Unavailable, match="without an outcome"):
        bench.work(bench.result(None, outcome=None))
