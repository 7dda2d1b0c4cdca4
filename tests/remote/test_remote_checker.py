"""Checks on other machines keep the contract, through a real server and a real worker; what is lost is made here."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from aotloop.config.remote_settings import RemoteSettings
from aotloop.execution.checker import Checked, CheckOrder, Unchecked
from aotloop.execution.integration.branch import Branch
from aotloop.execution.verification import Found
from aotloop.git.repository import find_repository
from aotloop.remote import remote_checker
from aotloop.remote.activity_poll import Closed
from aotloop.remote.attempt_order import Offer
from aotloop.remote.connection import connect
from aotloop.remote.link import Link
from aotloop.remote.remote_checker import RemoteChecker, findings
from aotloop.remote.wire import CommitCheckOrder, CommitCheckResult, written_check
from tests.execution.checkers import CheckerContract, CheckShop, leaf, unique
from tests.execution.makers import PROTECTION, a_repository
from tests.patience import reached, until
from tests.remote.cluster import Server, WorkerProcess

pytestmark = pytest.mark.temporal


def a_checker(folder: Path, queue: str, run_id: str) -> RemoteChecker:
    repository = find_repository(folder / "project")
    assert repository is not None
    return RemoteChecker(
        link=Link(connect=partial(connect, RemoteSettings()), run_id=run_id, attempts=folder / "records"),
        offer=Offer(branch=Branch(repository), name="project", protection=PROTECTION, heartbeat=10.0),
        run_id=run_id,
        queue=queue,
        records=lambda name, number: folder / "records" / f"{name}-{number}",
    )


class Fresh:
    """A checker for each call: tests use an event loop for each, and a link belongs to one."""

    def __init__(self, folder: Path, queue: str) -> None:
        self.folder, self.queue, self.run_id = folder, queue, unique()

    async def check(self, order: CheckOrder) -> Checked | Unchecked:
        return await a_checker(self.folder, self.queue, self.run_id).check(order)


@pytest.fixture
def worker(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerProcess]:
    monkeypatch.setenv("TEMPORAL_ADDRESS", server.address)
    root = a_repository(tmp_path / "project")
    (tmp_path / "worker").mkdir()
    worker = WorkerProcess(server, tmp_path / "worker", {"project": root}, f"q{os.urandom(5).hex()}")
    worker.start()
    yield worker
    worker.end(at_once=True)


@pytest.fixture
def shop(tmp_path: Path, worker: WorkerProcess) -> CheckShop:
    return CheckShop(tmp_path / "project", Fresh(tmp_path, worker.queue), host=":home")


class TestThroughAWorker(CheckerContract):
    pass


def test_the_same_order_is_carried_out_once_also_for_the_next_runner(shop: CheckShop, tmp_path: Path) -> None:
    order = shop.order(leaf("counted", f"echo x >> {tmp_path}/log"))
    for _ in range(3):
        checked = asyncio.run(shop._check(order))
        assert isinstance(checked, Checked)
    assert (tmp_path / "log").read_text().split() == ["x"]


_RUNNER = """
import asyncio, sys
from pathlib import Path
from aotloop.execution.checker import CheckOrder
from tests.execution.checkers import leaf
from tests.remote.test_remote_checker import a_checker

folder, queue, run_id, commit, attempt, command = sys.argv[1:]
order = CheckOrder(check=leaf("long", command), commit=commit, task="A1", attempt=int(attempt))
asyncio.run(a_checker(Path(folder), queue, run_id).check(order))
"""


def test_a_runner_that_died_leaves_a_check_that_the_next_one_takes_over(tmp_path: Path, worker: WorkerProcess) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    command = f"echo x >> {log}; while ! test -e {gate}; do sleep 0.1; done"
    checker = Fresh(tmp_path, worker.queue)
    order = CheckShop(tmp_path / "project", checker).order(leaf("long", command))
    words = (tmp_path, checker.queue, checker.run_id, str(order.commit), str(order.attempt), command)
    with subprocess.Popen([sys.executable, "-c", _RUNNER, *words], cwd=Path(__file__).parents[2]) as dying:
        until(log.exists)
        dying.kill()
    gate.touch()
    assert isinstance(asyncio.run(checker.check(order)), Checked)
    assert log.read_text().split() == ["x"]


def test_without_a_worker_it_gives_up_soon_and_rests(
    shop: CheckShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_checker, "WAIT", 1.0)
    now = [0.0]

    async def scenario() -> None:
        checker = a_checker(tmp_path, "no-such-queue", unique())
        checker._clock = lambda: now[0]
        first = await checker.check(shop.order(leaf("good", "true")))
        assert first == Unchecked(reason="no worker took it")
        assert await checker.check(shop.order(leaf("good", "true"))) == Unchecked(
            reason="workers did not answer a moment ago"
        )
        now[0] = 31.0
        again = await checker.check(shop.order(leaf("good", "true")))
        assert again == Unchecked(reason="no worker took it")

    asyncio.run(scenario())


def test_a_worker_checks_only_repositories_that_its_settings_name(
    shop: CheckShop, tmp_path: Path, worker: WorkerProcess
) -> None:
    worker.end()
    worker.repositories = {"other": tmp_path / "project"}
    worker.start()
    found = asyncio.run(shop._check(shop.order(leaf("bad", f"touch {tmp_path}/ran"))))
    assert isinstance(found, Unchecked)
    assert "does not name the repository project" in found.reason
    assert not (tmp_path / "ran").exists()


def test_when_a_worker_ends_its_check_is_given_back(shop: CheckShop, tmp_path: Path, worker: WorkerProcess) -> None:
    worker.end()
    worker.start("--drain", "1s")

    async def scenario() -> None:
        task = asyncio.ensure_future(shop.checker.check(shop.order(leaf("long", f"touch {tmp_path}/b; sleep 3600"))))
        await reached((tmp_path / "b").exists)
        assert worker.process is not None
        worker.process.terminate()
        found = await task
        assert isinstance(found, Unchecked)
        assert "was stopped" in found.reason

    asyncio.run(scenario())
    assert worker.end() == 0


CHECKED = written_check(leaf("x", "true"))
SENT = CommitCheckOrder(
    run_id="r",
    atom="A1",
    attempt=1,
    epoch=2,
    repository="p",
    base="b" * 40,
    tree="a" * 40,
    check=written_check(leaf("x", "true")),
)
GOOD = CommitCheckResult(
    run_id="r", epoch=2, id=SENT.id, kind="made", tree="a" * 40, found=Found(holding=("x",)), host="there"
)


def test_findings_for_what_was_asked_count() -> None:
    read = findings(SENT, Closed(content=msgspec.json.encode(GOOD)))
    assert read == Checked(found=Found(holding=("x",)), host="there")


@pytest.mark.parametrize(
    "other",
    [
        {"run_id": "other"},
        {"epoch": 1},
        {"id": "aot-r-e2-check-0-1-1"},
        {"tree": "c" * 40},
        {"tree": ""},
        {"found": None},
        {"kind": "cancelled"},
        {"kind": "refused"},
    ],
)
def test_findings_of_anything_else_do_not_count(other: dict[str, object]) -> None:
    forged = msgspec.structs.replace(GOOD, **other)
    assert isinstance(findings(SENT, Closed(content=msgspec.json.encode(forged))), Unchecked)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"kind":"made"}', b"\xff"])
def test_findings_that_cannot_be_read_do_not_count(content: bytes) -> None:
    assert isinstance(findings(SENT, Closed(content=content)), Unchecked)


def test_another_check_has_another_id() -> None:
    ids = {
        msgspec.structs.replace(SENT, **other).id
        for other in (
            {},
            {"tree": "d" * 40},
            {"atom": "A2"},
            {"epoch": 3},
            {"attempt": 2},
            {"turn": 2},
            {"prefix": "p"},
            {"check": written_check(leaf("x", "false"))},
        )
    }
    assert len(ids) == 8
    assert msgspec.structs.replace(SENT, base="e" * 40).id == SENT.id  # the same files in another commit
