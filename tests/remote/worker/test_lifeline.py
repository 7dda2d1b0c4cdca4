"""A worker behind a cut cable ends its agents when the server has given them up; nothing of them lands later.

What the library says of an activity that has ended already disturbs nothing.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from faults.cables import a_cable, refusal
from temporalio.testing import ActivityEnvironment

from aotloop.remote.worker.lifeline import lifeline, silence
from tests.loops import atom
from tests.patience import FOREVER, until
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project

pytestmark = pytest.mark.temporal


def test_agents_behind_a_cut_cable_end_and_another_worker_makes_the_attempt(tmp_path: Path, server: Server) -> None:
    if (why := refusal()) is not None:
        pytest.skip(why)
    log, key = tmp_path / "log", tmp_path / "key"
    key.write_text(os.urandom(32).hex())
    key.chmod(0o600)
    command = f"echo $$ >> {log}; if test -e {tmp_path}/second; then echo b > a; else exec sleep {FOREVER}; fi"
    sealed = f'key_file = "{key}"'
    with a_cable(server.port) as cable:
        worker, other = (
            WorkerProcess(
                server, tmp_path / name, {"project": tmp_path / "project"}, "", settings=f"[remote]\n{sealed}\n"
            )
            for name in ("worker", "other")
        )
        worker.inside, worker.address = cable.inside, cable.address
        for one in (worker, other):
            one.folder.mkdir()
        work = atom("A1", run=command)
        with a_remote_project(
            tmp_path, server, work, base_case="test -f a", worker=worker, settings=sealed, heartbeat="5s"
        ) as (project, _):
            run = project.start("run", "--yes")
            first = until(lambda: log.read_text().strip() if log.exists() else None)
            cable.cut()
            (tmp_path / "second").touch()
            until(lambda: not Path("/proc", first).exists(), "the agent went on behind the cut cable")
            assert worker.process is not None
            assert worker.process.poll() is None
            other.queue = worker.queue
            other.start()
            try:
                out, err = run.communicate()
                assert run.wait() == 0, out + err
                cable.mend()
                assert project.git("show", "HEAD:a") == "b"
                assert (project.git("rev-list", "--count", "HEAD"), project.loop.atoms[0].failures) == ("2", 0)
            finally:
                other.end(at_once=True)


@pytest.mark.parametrize("limit", [1.0, 3.0, 5.0, 120.0, 3600.0])
def test_a_silent_attempt_gives_signs_in_time_but_not_more_often_than_needed(limit: float) -> None:
    assert limit / 120 <= silence(limit) <= min(limit / 3, 30.0)


class SlowService:
    """Its call needs a moment to be cancelled, as a real one does."""

    def __init__(self) -> None:
        self.is_called, self.is_ending, self.may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def describe_activity_execution(self, *_: object, **__: object) -> None:
        self.is_called.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.is_ending.set()
            await self.may_end.wait()


def test_a_cancellation_after_the_end_disturbs_nothing() -> None:
    async def scenario() -> str:
        service = SlowService()
        client: Any = SimpleNamespace(namespace="default", workflow_service=service)

        async def attempt() -> str:
            work = asyncio.create_task(asyncio.sleep(0))
            async with lifeline(client, work, lambda: b"") as ended:
                await service.is_called.wait()
            return ended.reason or "ended"

        running = asyncio.create_task(ActivityEnvironment().run(attempt))
        await service.is_ending.wait()
        running.cancel()
        await asyncio.sleep(0)
        service.may_end.set()
        return await running

    assert asyncio.run(scenario()) == "ended"
