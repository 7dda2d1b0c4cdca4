"""A cluster in one command: a server, workers, a loop that runs on them, and nothing left afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.remote.cluster import WITHOUT, program
from tests.runner.projects import a_project, processes_with

pytestmark = [pytest.mark.temporal, pytest.mark.skipif(program() is None, reason=WITHOUT)]

AOT = (sys.executable, "-c", "from aotloop.cli.main import main; main()")


def test_a_loop_runs_on_it_and_nothing_is_left(tmp_path: Path) -> None:
    """By the program that a person calls: what it starts is told apart from attempts by its name."""
    project = a_project(tmp_path, atom("A1", run="echo a > a; echo $PWD > where"), base_case="test -f a")
    aot, options = str(Path(sys.executable).with_name("aot")), ("--workers", "1", "--folder", str(tmp_path / "cluster"))
    ran = subprocess.run(
        (aot, "dev-cluster", *options, "--", aot, "run", "--yes"),
        cwd=project.root,
        env={**os.environ, "AOT_CONFINE": "off", **project.environ},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert str(tmp_path / "cluster" / "worker-1") in project.git("show", "HEAD:where")
    assert "takes no more orders" in (tmp_path / "cluster" / "worker-1.log").read_text()


def test_the_exit_code_of_the_command_is_the_result(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))
    assert project.aot("dev-cluster", "--workers", "1", "--", "/bin/sh", "-c", "exit 5").code == 5


def test_without_a_repository_it_is_refused(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), git=False)
    refused = project.aot("dev-cluster")
    assert (refused.code, "is in no git repository" in refused.err) == (1, True)


def test_a_worker_that_cannot_start_ends_it_with_its_reason(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))
    (tmp_path / "own" / "aotloop").mkdir(parents=True)
    (tmp_path / "own" / "aotloop" / "config.toml").write_text("[worker]\nagents = []\n")
    project.environ["XDG_CONFIG_HOME"] = str(tmp_path / "own")
    refused = project.aot("dev-cluster", "--workers", "1", "--", "/bin/sh", "-c", "exit 0")
    assert (refused.code, "did not start: this worker would accept nothing" in refused.err) == (1, True), refused.err


def test_ctrl_c_ends_all_of_it(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the command at once."""
    project = a_project(tmp_path, atom("A1", run="true"))
    cluster, told = tmp_path / "cluster", tmp_path / "told"
    with told.open("wb") as err:
        process = subprocess.Popen(
            (*AOT, "dev-cluster", "--workers", "2", "--folder", str(cluster)),
            cwd=project.root,
            stdin=subprocess.DEVNULL,
            stdout=err,
            stderr=err,
            start_new_session=True,
        )
    logs = [cluster / f"worker-{n}.log" for n in (1, 2)]
    until(lambda: "Use it from this folder: TEMPORAL_ADDRESS=127.0.0.1:" in told.read_text(), told.read_text)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE) == 130, told.read_text()
    assert processes_with(str(cluster)) == []
    assert "Traceback" not in told.read_text() + "".join(log.read_text() for log in logs)
