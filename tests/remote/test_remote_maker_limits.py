"""A stop and a budget hold for all machines together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from tests.agents.assignments import worker_answer
from tests.loops import atom
from tests.patience import FOREVER, until
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project, processes_with

pytestmark = pytest.mark.temporal

FAILED = worker_answer(success=False, reason="not today")


@contextmanager
def two_workers(top: Path, server: Server, script: str, **constraints: float) -> Iterator[tuple[Project, list[str]]]:
    """A project with four atoms, two slots on each worker, and the marks of both workers' agents."""
    (top / "agent").write_text(script)
    own = f'agent = "paid"\n[agents.paid]\nkind = "command"\nargv = ["/bin/sh", "{top}/agent"]\n'
    workers = [
        WorkerProcess(server, top / name, {"project": top / "project"}, "", agents=("paid",), settings=own, slots=2)
        for name in ("first", "second")
    ]
    for worker in workers:
        worker.folder.mkdir()
    with a_remote_project(
        top,
        server,
        *(atom(f"A{n}") for n in range(1, 5)),
        base_case="test -f never",
        worker=workers[0],
        own=own,
        heartbeat="1m",
        constraints=Constraints(max_parallel_agents=4, **constraints),  # type: ignore[arg-type]
    ) as (project, _):
        workers[1].queue = workers[0].queue
        workers[1].start()
        try:
            yield project, [worker.mark for worker in workers]
        finally:
            workers[1].end(at_once=True)


def test_a_stop_ends_the_agents_of_all_machines(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    script = f"trap '' TERM; echo $AOT_RUN_ID >> {log}; while :; do sleep 0.1; done"
    with two_workers(tmp_path, server, script) as (project, marks):
        run = project.start("run", "--yes")
        until(lambda: log.exists() and len(log.read_text().split()) == 4)
        assert len(set(log.read_text().split())) == 2
        assert project.aot("stop").code == 0
        run.communicate()
        assert run.wait() == 7
        until(lambda: not any(map(processes_with, marks)))
        assert project.git("rev-list", "--count", "HEAD") == "1"


def test_all_machines_together_spend_no_more_than_the_budget(tmp_path: Path, server: Server) -> None:
    """Each agent spends all that it may, and fails; each order says how much that is."""
    log = tmp_path / "log"
    usage = '{"usage": {"cost_usd": \'$AOT_MAX_COST_USD\'}}'
    wait = f"until test $(wc -l < {log}) -ge 4; do sleep 0.1; done"
    script = f"echo $AOT_MAX_COST_USD $AOT_RUN_ID >> {log}; echo '{usage}'; {wait}; echo '{FAILED}'"
    with two_workers(tmp_path, server, script, max_cost_usd=1.0) as (project, _):
        ran = project.run()
        shares = [line.split() for line in log.read_text().splitlines()]
        assert (ran.code, len({mark for _, mark in shares})) == (5, 2), ran.out + ran.err
        assert sum(float(usd) for usd, _ in shares) <= 1.0
        assert project.loop.control.cost_usd == pytest.approx(sum(float(usd) for usd, _ in shares))


def test_money_that_is_spent_elsewhere_counts_before_an_attempt_has_ended(tmp_path: Path, server: Server) -> None:
    """A stop comes before any agent has ended: what they had told by then is counted."""
    log = tmp_path / "log"
    script = f"""echo '{{"usage": {{"cost_usd": 0.25}}}}'; echo told >> {log}; exec sleep {FOREVER}"""
    with two_workers(tmp_path, server, script, max_cost_usd=8.0) as (project, _):
        run = project.start("run", "--yes")
        until(lambda: log.exists() and len(log.read_text().split()) == 4)
        assert project.aot("stop").code == 0
        run.communicate()
        assert (run.wait(), project.loop.control.cost_usd) == (7, 1.0)
