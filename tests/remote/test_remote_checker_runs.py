"""`aot run` with a worker that checks merges: what lands was checked there, and nothing is lost or counted twice."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.patience import until
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.runner.projects import Project

pytestmark = pytest.mark.temporal


@dataclass
class Scene:
    """A2 ends after A1 was merged, so that its merge has to be checked; that check may be held up."""

    project: Project
    worker: WorkerProcess
    folder: Path

    def hold(self) -> None:
        (self.folder / "hold").touch()

    def release(self) -> None:
        (self.folder / "hold").unlink()

    @property
    def checks(self) -> list[str]:
        """One line for each check of A2 after a merge: the number of its process."""
        log = self.folder / "log"
        return log.read_text().split() if log.exists() else []

    def pid(self) -> Path:
        until(lambda: self.checks)
        return Path(f"/proc/{self.checks[-1]}")


@contextmanager
def a_scene(folder: Path, server: Server, settings: str = "", good: str = "test -f b") -> Iterator[Scene]:
    project = folder / "project"
    merged = f"while ! git -C {project} cat-file -e HEAD:a; do sleep 0.1; done"
    held = f"if test -f a; then echo $$ >> {folder}/log; while test -e {folder}/hold; do sleep 0.1; done; fi"
    check = AtomCheck(type="command", value=f"{held}; {good}")
    atoms = (atom("A1", run="echo 1 > a"), atom("A2", run=f"echo 2 > b; {merged}", check=check))
    limits = Constraints(max_parallel_agents=2)
    base_case = "test -f a -a -f b"
    with a_remote_project(folder, server, *atoms, base_case=base_case, constraints=limits, settings=settings) as made:
        yield Scene(*made, folder)


def checked_on(out: str) -> list[str]:
    events = [json.loads(line) for line in out.splitlines()]
    return [one["checked_on"] for one in events if one["kind"] == "merged" and one["atom"] == "A2"]


def test_a_merge_is_checked_by_a_worker_and_the_event_names_it(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server) as scene:
        ran = scene.project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
        [host] = checked_on(ran.out)
        assert host.endswith(":home")
        assert len(scene.checks) == 1


def test_a_merge_that_fails_there_is_refused_and_the_reason_names_the_machine(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server, good="test ! -f a -o -e again") as scene:
        ran = scene.project.aot("run", "--yes", "--json")
        refused = [one for one in ran.kinds("not_merged") if one["why"] == "refused"]
        assert refused, ran.out + ran.err
        assert ":home)" in refused[0]["reason"]


def test_a_runner_killed_during_a_check_finds_it_again_and_it_runs_once(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server) as scene:
        scene.hold()
        run = scene.project.start("run", "--yes")
        process = scene.pid()
        until(lambda: "checking on" in scene.project.aot("status").out)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        assert process.exists()
        again = scene.project.start("run", "--yes", "--json")
        scene.release()
        out, err = again.communicate()
        assert again.wait() == 0, out + err
        assert len(scene.checks) == 1
        assert scene.project.git("rev-list", "--count", "HEAD") == "3"


def test_a_stop_ends_the_check_and_nothing_lands(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server) as scene:
        scene.hold()
        run = scene.project.start("run", "--yes")
        process = scene.pid()
        assert scene.project.aot("stop").code == 0
        run.communicate()
        assert run.wait() == 7
        until(lambda: not process.exists())
        assert scene.project.git("rev-list", "--count", "HEAD") == "2"
        scene.release()
        ran = scene.project.aot("run", "--yes", "--json")
        assert ran.code == 0, ran.out + ran.err
        assert scene.project.git("rev-list", "--count", "HEAD") == "3"


def test_a_redirect_ends_the_check(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server) as scene:
        scene.hold()
        run = scene.project.start("run", "--yes")
        process = scene.pid()
        said = scene.project.aot("redirect", "--remove", "A2", "--yes")
        assert said.code == 0, said.out + said.err
        until(lambda: not process.exists())
        scene.project.aot("stop")
        run.communicate()
        assert scene.project.git("rev-list", "--count", "HEAD") == "2"


def test_a_worker_that_dies_with_a_check_costs_a_wait_and_no_attempt(tmp_path: Path, server: Server) -> None:
    with a_scene(tmp_path, server) as scene:
        scene.hold()
        run = scene.project.start("run", "--yes", "--json")
        process = scene.pid()
        scene.worker.end(at_once=True)
        scene.release()
        until(lambda: not process.exists())
        out, err = run.communicate()
        assert run.wait() == 0, out + err
        assert checked_on(out) == [""]
        assert [one.failures for one in scene.project.loop.atoms] == [0, 0]
