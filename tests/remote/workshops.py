"""A repository, a worker that accepts it, and the maker of the runner's side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from aotloop.config.remote_settings import RemoteSettings
from aotloop.execution.integration.branch import Branch
from aotloop.git.repository import find_repository
from aotloop.remote.attempt_order import Offer
from aotloop.remote.connection import connect
from aotloop.remote.link import Link
from aotloop.remote.remote_maker import RemoteMaker
from tests.execution.makers import PROTECTION, Workshop, a_repository, worktrees_of
from tests.remote.cluster import Server, WorkerProcess


def a_maker(
    folder: Path, workshop_id: str, queue: str, heard: list[str], settings: RemoteSettings, **offer: object
) -> RemoteMaker:
    repository = find_repository(folder / "project")
    assert repository is not None
    return RemoteMaker(
        link=Link(connect=partial(connect, settings), run_id=workshop_id, attempts=folder / "records"),
        offer=Offer(branch=Branch(repository), name="project", protection=PROTECTION, **{"heartbeat": 10.0, **offer}),  # type: ignore[arg-type]
        queue_of=lambda _: queue,
        records=lambda name, number: folder / "records" / f"{name}-{number}",
        on_output=lambda _, line: heard.append(line),
    )


@contextmanager
def a_workshop(
    folder: Path, server: Server, settings: RemoteSettings | None = None, worker: WorkerProcess | None = None
) -> Iterator[tuple[Workshop, WorkerProcess]]:
    heard: list[str] = []
    root = a_repository(folder / "project")
    queue = f"q{os.urandom(5).hex()}"
    worktrees = worktrees_of(root, folder / "worktrees")
    if worker is None:
        (folder / "worker").mkdir()
        worker = WorkerProcess(server, folder / "worker", {"project": root}, queue)
    worker.queue = queue
    worker.start()
    run_id = f"r{os.urandom(5).hex()}"
    maker = a_maker(folder, run_id, queue, heard, settings or RemoteSettings())
    try:
        yield Workshop(root, worktrees, maker, heard, run_id=run_id), worker
    finally:
        worker.end(at_once=True)
        worktrees.close()
