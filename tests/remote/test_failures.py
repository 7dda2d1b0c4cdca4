"""What breaks between a runner and its workers: nothing is lost, nothing lands twice, and the reason is told."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.loops import atom
from tests.patience import until
from tests.remote.cluster import Server, WorkerProcess, a_server
from tests.remote.projects import a_remote_project

pytestmark = pytest.mark.temporal


def a_key(folder: Path, digit: str) -> str:
    file = folder / f"key-{digit}"
    file.write_text(digit * 64)
    file.chmod(0o600)
    return f'key_file = "{file}"'


def test_with_the_same_key_all_goes_as_without(tmp_path: Path, server: Server) -> None:
    key = a_key(tmp_path, "1")
    work = atom("A1", run="echo a > a")
    with a_remote_project(tmp_path, server, work, base_case="test -f a", settings=key) as (project, _):
        ran = project.aot("run", "--yes")
        assert ran.code == 0, ran.out + ran.err


def test_a_worker_with_another_key_is_named_at_once(tmp_path: Path, server: Server) -> None:
    worker = WorkerProcess(server, tmp_path / "worker", {}, "", settings=f"[remote]\n{a_key(tmp_path, '2')}\n")
    worker.folder.mkdir()
    worker.repositories = {"project": tmp_path / "project"}
    work = atom("A1", run="echo a > a")
    key = a_key(tmp_path, "1")
    with a_remote_project(tmp_path, server, work, base_case="test -f a", settings=key, worker=worker) as (project, _):
        ran = project.aot("run", "--yes")
        assert (ran.code, "another key" in ran.out + ran.err) == (6, True), ran.out + ran.err


@pytest.mark.parametrize(
    ("agents", "name", "why"), [(("claude",), "project", "agent shell"), (("shell",), "other", "repository project")]
)
def test_a_worker_accepts_only_what_its_settings_name(
    tmp_path: Path, server: Server, agents: tuple[str, ...], name: str, why: str
) -> None:
    worker = WorkerProcess(server, tmp_path / "worker", {name: tmp_path / "project"}, "", agents=agents)
    worker.folder.mkdir()
    work = atom("A1", run="echo a > a")
    with a_remote_project(tmp_path, server, work, base_case="test -f a", worker=worker) as (project, _):
        ran = project.aot("run", "--yes")
        assert (ran.code, f"does not name the {why}" in ran.out + ran.err) == (6, True), ran.out + ran.err
        assert project.git("rev-list", "--count", "HEAD") == "1"


def test_a_killed_worker_loses_an_attempt_and_the_next_worker_makes_it_again(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = f"echo $$ >> {log}; if test -e {tmp_path}/second; then echo a > a; else sleep 3600; fi"
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, worker):
        run = project.start("run", "--yes", "--json")
        until(log.exists)
        (tmp_path / "second").touch()
        worker.end(at_once=True)
        worker.start()
        out, err = run.communicate()
        assert run.wait() == 0, out + err
        first, _ = log.read_text().split()
        assert (Path(f"/proc/{first}").exists(), project.loop.atoms[0].failures) == (False, 0)


def test_a_worker_that_ends_lets_its_attempts_finish(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = f"echo began >> {log}; while ! test -e {tmp_path}/gate; do sleep 0.1; done; echo a > a"
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, worker):
        run = project.start("run", "--yes")
        until(log.exists)
        assert worker.process is not None
        worker.process.terminate()
        until(lambda: "takes no more orders" in worker.log)
        (tmp_path / "gate").touch()
        out, err = run.communicate()
        assert run.wait() == 0, out + err
        assert worker.end() == 0
        assert log.read_text().split() == ["began"]


@pytest.mark.parametrize(("drain", "signals"), [("0s", 1), ("1s", 1), ("1h", 2)])
def test_after_the_drain_or_a_second_signal_an_attempt_waits_for_another_worker(
    tmp_path: Path, server: Server, drain: str, signals: int
) -> None:
    log = tmp_path / "log"
    trap = "trap '' TERM; while :; do sleep 0.1; done"
    command = f"echo began >> {log}; if test -e {tmp_path}/second; then echo a > a; else {trap}; fi"
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, worker):
        worker.end()
        worker.start("--drain", drain)
        run = project.start("run", "--yes")
        until(log.exists)
        (tmp_path / "second").touch()
        assert worker.process is not None
        if signals == 2:
            before = worker.log.count("takes no more orders")
            worker.process.terminate()
            until(lambda: worker.log.count("takes no more orders") > before)
        assert worker.end() == 0
        worker.start()
        out, err = run.communicate()
        assert run.wait() == 0, out + err
        assert (log.read_text().split(), project.loop.atoms[0].failures) == (["began", "began"], 0)


def test_a_result_that_was_finished_while_the_server_was_away_is_delivered_by_the_next_worker(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = f"echo began >> {log}; while ! test -e {tmp_path}/gate; do sleep 0.1; done; echo a > a"
    with a_server(tmp_path / "server") as server:
        work = atom("A1", run=command)
        settings = 'first_sign = "1m"'
        with a_remote_project(tmp_path, server, work, base_case="test -f a", settings=settings, heartbeat="1m") as (
            project,
            worker,
        ):
            run = project.start("run", "--yes")
            until(log.exists)
            server.kill()
            (tmp_path / "gate").touch()
            until(lambda: list((worker.folder / "home" / "parcels").glob("*.parcel")))
            worker.end(at_once=True)
            server.start()
            worker.start()
            out, err = run.communicate()
            assert run.wait() == 0, out + err
            assert log.read_text().split() == ["began"]
            assert "delivered 1 results" in worker.log


def test_a_large_result_is_pushed(tmp_path: Path, server: Server) -> None:
    work = atom("A1", run="head -c 3000000 /dev/urandom > large")
    with a_remote_project(tmp_path, server, work, base_case="test -f large") as (project, _):
        ran = project.aot("run", "--yes")
        assert ran.code == 0, ran.out + ran.err
        assert project.git("cat-file", "-s", "HEAD:large") == "3000000"
        assert project.git("for-each-ref", "refs/aot/results") == ""


def test_the_exit_code_is_right_however_often(tmp_path: Path, server: Server) -> None:
    """The library's threads crash an interpreter at its end in about half of all cases."""
    work = atom("A1", run="echo a > a")
    with a_remote_project(tmp_path, server, work, base_case="test -f a") as (project, _):
        assert project.aot("run", "--yes").code == 0
        codes = {project.aot("worker", "--doctor", "--home", str(tmp_path / "no")).code for _ in range(10)}
        assert codes == {1}


def test_a_stopped_worker_loses_its_attempt_and_its_late_result_never_counts(tmp_path: Path, server: Server) -> None:
    log = tmp_path / "log"
    command = f"echo began >> {log}; if test -e {tmp_path}/second; then echo b > a; else sleep 2; echo a > a; fi"
    other = WorkerProcess(server, tmp_path / "other", {"project": tmp_path / "project"}, "")
    other.folder.mkdir()
    with a_remote_project(tmp_path, server, atom("A1", run=command), base_case="test -f a") as (project, worker):
        run = project.start("run", "--yes")
        until(log.exists)
        assert worker.process is not None
        worker.process.send_signal(signal.SIGSTOP)
        (tmp_path / "second").touch()
        other.queue = worker.queue
        other.start()
        try:
            out, err = run.communicate()
            assert run.wait() == 0, out + err
            worker.process.send_signal(signal.SIGCONT)
            assert project.git("show", "HEAD:a") == "b"
            assert project.git("rev-list", "--count", "HEAD") == "2"
        finally:
            other.end(at_once=True)
