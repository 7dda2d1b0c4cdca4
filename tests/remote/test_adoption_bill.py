"""What an attempt has cost is counted once, also if its runner dies meanwhile and the next one takes it over."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.assignments import worker_answer
from tests.loops import atom
from tests.patience import shell_until_there, until
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project

pytestmark = pytest.mark.temporal

AGENT = """
echo began >> {top}/log
echo '{{"usage": {{"cost_usd": 0.5, "input": 10}}}}'
{gate}
echo '{{"usage": {{"cost_usd": 1.5, "input": 30}}}}'
{second}
echo a > a
echo '{answer}'
echo ended >> {top}/log
"""


@contextmanager
def a_paid_project(top: Path, server: Server) -> Iterator[Project]:
    answer = worker_answer(usage={"cost_usd": 2.0, "input": 40})
    gates = {name: shell_until_there(top / name) for name in ("gate", "second")}
    (top / "agent").write_text(AGENT.format(top=top, answer=answer, **gates))
    own = f'agent = "paid"\n[agents.paid]\nkind = "command"\nargv = ["/bin/sh", "{top}/agent"]\n'
    worker = WorkerProcess(server, top / "worker", {"project": top / "project"}, "", agents=("paid",), settings=own)
    worker.folder.mkdir()
    with a_remote_project(top, server, atom("A1"), base_case="test -f a", worker=worker, own=own, heartbeat="1m") as (
        project,
        _,
    ):
        yield project


def killed_after(project: Project, usd: float) -> None:
    """A run, killed as soon as it knows that its attempt has cost so much."""
    with project.running() as run:
        until(lambda: any(_told(file) >= usd for file in (project.root / ".aot" / "attempts").glob("*/remote.json")))
        run.send_signal(signal.SIGKILL)
        run.communicate()


def _told(file: Path) -> float:
    try:
        return json.loads(file.read_text()).get("cost_usd") or 0.0
    except (OSError, ValueError):
        return 0.0


def assert_counted_once(project: Project, top: Path) -> None:
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    control = project.loop.control
    assert (control.cost_usd, control.used.input) == (2.0, 40)
    assert (top / "log").read_text().split() == ["began", "ended"]
    assert "elsewhere" not in json.loads(project.aot("status", "--json").out)


def test_of_an_attempt_that_goes_on(tmp_path: Path, server: Server) -> None:
    with a_paid_project(tmp_path, server) as project:
        killed_after(project, 0.5)
        (tmp_path / "gate").touch()
        killed_after(project, 1.5)
        (tmp_path / "second").touch()
        assert_counted_once(project, tmp_path)


def test_of_an_attempt_that_has_ended_before_the_next_run(tmp_path: Path, server: Server) -> None:
    with a_paid_project(tmp_path, server) as project:
        killed_after(project, 0.5)
        (tmp_path / "gate").touch()
        (tmp_path / "second").touch()
        until(lambda: "ended" in (tmp_path / "log").read_text())
        assert_counted_once(project, tmp_path)
