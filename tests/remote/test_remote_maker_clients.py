"""Whole atoms by the real clients on a worker: the work is merged, the bill is counted, and a stop ends the client.

Only the worker has a key: what the clients need to ask a model is not in the runner's environment.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.loops import atom
from tests.modelserver import ModelServer, Script, Usage, stalled
from tests.modelserver.operators import DONE, KEY, config_of, each_client, environ_of, shell
from tests.patience import until
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project, processes_with

pytestmark = pytest.mark.temporal


@contextmanager
def a_clients_project(
    top: Path, server: Server, client: str, model: ModelServer
) -> Iterator[tuple[Project, WorkerProcess]]:
    own = config_of(client)
    (top / "worker").mkdir()
    worker = WorkerProcess(
        server,
        top / "worker",
        {"project": top / "project"},
        "",
        agents=(client,),
        settings=own,
        environ=environ_of(client, model),
    )
    with a_remote_project(
        top,
        server,
        atom("A1"),
        base_case="test -f a",
        worker=worker,
        own=own,
        heartbeat="1m",
        settings='first_sign="1m"',
    ) as made:
        yield made


@each_client
def test_an_atom_is_resolved_and_merged_and_its_bill_is_counted(tmp_path: Path, server: Server, client: str) -> None:
    usage = Usage(input=100, output=20, cache_read=7)
    turns = [shell(client, "echo a > a"), replace(DONE, usage=usage)]
    with (
        ModelServer([Script("atom A1", turns)]) as model,
        a_clients_project(tmp_path, server, client, model) as (project, worker),
    ):
        ran = project.run()
        assert ran.code == 0, ran.out + ran.err + worker.log
        counted = sum(model.usage.values(), Usage(input=0, output=0))
        used = project.loop.control.used
        assert (used.input, used.output, used.cache_read) == (counted.input, counted.output, counted.cache_read)
        assert project.git("show", "HEAD:a") == "a"
        assert project.atom("A1").status == "resolved"
        sent = [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]
        assert [file for file in sent if (tmp_path / "worker") not in file.parents] == []


@each_client
def test_a_stop_ends_the_client_on_the_worker(tmp_path: Path, server: Server, client: str) -> None:
    with (
        ModelServer([Script("atom A1", [replace(DONE, delivery=stalled())])]) as model,
        a_clients_project(tmp_path, server, client, model) as (project, worker),
        project.running() as run,
    ):
        assert model.wait_for(1)
        assert processes_with(worker.mark)
        stopped = project.aot("stop")
        assert stopped.code == 0, stopped.err
        assert run.wait() == 7
        until(lambda: not processes_with(worker.mark))
        assert project.git("rev-list", "--count", "HEAD") == "1"
