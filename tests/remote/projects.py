"""Projects whose attempts are made by a worker: `aot run` as a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aotloop.core.model import Atom
from tests.remote.cluster import Server, WorkerProcess
from tests.runner.projects import Project, a_project


@contextmanager
def a_remote_project(
    folder: Path,
    server: Server,
    *atoms: Atom,
    settings: str = "",
    heartbeat: str = "10s",
    worker: WorkerProcess | None = None,
    own: str = "",
    **more: Any,
) -> Iterator[tuple[Project, WorkerProcess]]:
    """`settings`: further lines of [remote], for both sides. `own`: further settings of the runner's user."""
    project = a_project(folder, *atoms, **more)
    queue = f"q{os.urandom(5).hex()}"
    where = folder / "own" / "aotloop"
    where.mkdir(parents=True)
    remote = f'[remote]\nqueue = "{queue}"\nrepository = "project"\nheartbeat = "{heartbeat}"\n{settings}\n'
    (where / "config.toml").write_text(f'isolation = "remote"\n{own}{remote}')
    project.environ |= {"XDG_CONFIG_HOME": str(folder / "own"), "TEMPORAL_ADDRESS": server.address}
    if worker is None:
        (folder / "worker").mkdir()
        worker = WorkerProcess(server, folder / "worker", {"project": project.root}, queue, settings=remote)
    worker.queue = queue
    worker.start()
    try:
        yield project, worker
    finally:
        worker.end(at_once=True)
