"""`aot run` on this machine and on a worker at the same time: slots hold, and a queue without a worker gets nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.core.model import Atom, Constraints
from tests.loops import atom
from tests.remote.cluster import Server
from tests.remote.projects import a_remote_project

pytestmark = pytest.mark.temporal


def atoms(log: Path, number: int) -> list[Atom]:
    """Each says where it runs, and how many run there then."""
    command = (
        "mkdir -p {log}; echo $AOT_RUN_ID > {log}/running-{n}; sleep 1;"
        " grep -lx $AOT_RUN_ID {log}/running-* | wc -l > {log}/count-{n}; cp {log}/running-{n} {log}/where-{n};"
        " rm {log}/running-{n}; echo {n} > f{n}"
    )
    return [atom(f"A{n}", run=command.format(log=log, n=n)) for n in range(1, number + 1)]


def seen(log: Path) -> dict[str, list[int]]:
    """By place: how many ran there at the same time, as each saw it."""
    found: dict[str, list[int]] = {}
    for file in log.glob("where-*"):
        count = int((log / file.name.replace("where", "count")).read_text())
        found.setdefault("far" if file.read_text().startswith("worker-") else "here", []).append(count)
    return found


def test_a_run_uses_this_machine_and_the_workers_and_slots_hold(tmp_path: Path, server: Server) -> None:
    log, work = tmp_path / "log", atoms(tmp_path / "log", 8)
    limits = Constraints(max_parallel_agents=6)
    with a_remote_project(tmp_path, server, *work, base_case="test -f f8", constraints=limits) as (project, worker):
        own = tmp_path / "own" / "aotloop" / "config.toml"
        own.write_text(f"{own.read_text()}local = 1\n[remote.queues.{worker.queue}]\nslots = 2\n")
        ran = project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
    found = seen(log)
    assert set(found) == {"here", "far"}
    assert (max(found["here"]), max(found["far"])) == (1, 2)
    assert len(found["here"]) + len(found["far"]) == 8


def test_without_a_worker_this_machine_does_all(tmp_path: Path, server: Server) -> None:
    work = atoms(tmp_path / "log", 3)
    with a_remote_project(tmp_path, server, *work, base_case="test -f f3") as (project, worker):
        worker.end(at_once=True)
        own = tmp_path / "own" / "aotloop" / "config.toml"
        own.write_text(f"{own.read_text().replace(worker.queue, 'no-worker')}local = 2\n")
        ran = project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
        assert "elsewhere" not in json.loads(project.aot("status", "--json").out)
    assert list(seen(tmp_path / "log")) == ["here"]
