"""A runner that died: its attempts go on, and the next run takes them over, each command once."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from aotloop.cli.live.run_files import Scene
from aotloop.core.model import Constraints
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from tests.loops import atom
from tests.patience import until
from tests.remote.cluster import Server
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project

pytestmark = pytest.mark.temporal


def test_after_a_kill_the_next_run_takes_over_and_each_command_runs_once(tmp_path: Path, server: Server) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    commands = {
        f"A{n}": f"echo A{n} >> {log}; while ! test -e {gate}; do sleep 0.1; done; echo {n} > f{n}" for n in range(1, 5)
    }
    with a_remote_project(
        tmp_path,
        server,
        *(atom(name, run=command) for name, command in commands.items()),
        base_case="test -f f1 -a -f f2 -a -f f3 -a -f f4",
        constraints=Constraints(max_parallel_agents=4),
    ) as (project, _):
        first = project.start("run", "--yes")
        until(lambda: log.exists() and len(log.read_text().split()) == 4)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        gate.touch()
        ran = project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
        assert sorted(log.read_text().split()) == ["A1", "A2", "A3", "A4"]
        assert project.git("rev-list", "--count", "HEAD") == "5"


def test_a_result_that_was_ready_before_the_next_run_is_taken_over(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = (
        f"echo began >> {log}; while ! test -e {tmp_path}/gate; do sleep 0.1; done; echo a > a; echo ended >> {log}"
    )
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, _):
        first = project.start("run", "--yes")
        until(log.exists)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        (tmp_path / "gate").touch()
        until(lambda: "ended" in log.read_text())
        ran = project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
        assert log.read_text().split() == ["began", "ended"]


def test_a_stop_ends_every_attempt_and_nothing_of_it_lands(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = f"trap '' TERM; echo $$ >> {log}; while :; do sleep 0.1; done"
    with a_remote_project(
        tmp_path,
        server,
        *(atom(f"A{n}", run=command) for n in range(1, 4)),
        base_case="test -f never",
        constraints=Constraints(max_parallel_agents=3),
    ) as (project, _):
        run = project.start("run", "--yes")
        until(lambda: log.exists() and len(log.read_text().split()) == 3)
        stopped = project.aot("stop")
        assert stopped.code == 0, stopped.err
        run.communicate()
        assert run.wait() == 7
        for pid in log.read_text().split():
            until(lambda pid=pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]
        assert project.git("rev-list", "--count", "HEAD") == "1"


def shown(project: Project) -> list[tuple[int, str]]:
    """What `aot watch` shows of each attempt."""
    store = Store(str(project.state_file))
    scene = Scene(store, holder_of(store.path))
    scene.news()
    return list(scene.outputs())


def test_status_and_doctor_show_where_an_attempt_is(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = f"echo a line of it; echo began >> {log}; while ! test -e {tmp_path}/gate; do sleep 0.1; done; echo a > a"
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, worker):
        run = project.start("run", "--yes")
        until(log.exists)
        until(lambda: "working on " in project.aot("status").out)
        [(name, where)] = json.loads(project.aot("status", "--json").out)["elsewhere"].items()
        assert (name, where["queue"], where["line"]) == ("A1-1", worker.queue, "a line of it")
        [(_, line)] = shown(project)
        assert line.startswith("working on ")
        assert line.endswith(": a line of it")
        assert "it still runs: working on" in project.aot("show", "A1#1").out
        found = json.loads(project.aot("doctor", "--json").out)["findings"]
        told = {one["what"]: (one["said"], one["ok"]) for one in found if one["about"] == "other machines"}
        assert told[f"queue {worker.queue}"] == ("1 workers", True)
        assert "namespace default" in told["Temporal server"][0]
        (tmp_path / "gate").touch()
        run.communicate()
        assert run.wait() == 0
        assert "elsewhere" not in json.loads(project.aot("status", "--json").out)
