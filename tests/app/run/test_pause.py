"""`aot pause`: nothing new starts, what runs goes on; `aot resume` ends it."""

from __future__ import annotations

from pathlib import Path

from tests.loops import atom
from tests.patience import shell_until_there, until
from tests.runner.projects import a_project


def test_pause_starts_nothing_new_and_what_runs_goes_on(tmp_path: Path) -> None:
    go = tmp_path / "go"
    project = a_project(
        tmp_path / "p",
        atom("A1", run=f"{shell_until_there(go)}; echo a > a"),
        atom("A2", "A1", run="echo b > b"),
        base_case="test -f b",
    )
    with project.running() as process:
        until(lambda: project.state_file.exists() and project.statuses()["A1"] == "in_progress")
        assert project.aot("pause").code == 0
        assert "paused: true" in project.state_file.read_text()
        go.touch()
        until(lambda: project.statuses()["A1"] == "resolved")
        assert (project.statuses()["A2"], process.poll()) == ("pending", None)
        assert "already paused" in project.aot("pause").out
        assert project.aot("resume").code == 0
        assert process.wait() == 0
    assert "paused" not in project.state_file.read_text()


def test_without_a_run_there_is_nothing_to_pause(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), base_case="true")
    refused = project.aot("pause")
    assert (refused.code, "no process runs this loop" in refused.err) == (1, True)
    assert project.aot("resume").code == 1
