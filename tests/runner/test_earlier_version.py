"""A run that the version before killed in the middle is resumed: its state file, its journal and its results are read.

tests/golden/killed-run was written by version 0efdecf. When it was killed, A1 was merged; A2 had failed, with half of
its check done, and was being tried again; the result of A3 waited for a person's file to get out of its way.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.repositories import new_repository
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project

GOLDEN = Path(__file__).parents[1] / "golden" / "killed-run"


@pytest.fixture
def alone() -> Iterator[None]:
    """All of them have the same run id, and a run ends what an earlier one with its id left: so one at a time."""
    with (Path(tempfile.gettempdir()) / "aot-earlier-version.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture
def project(tmp_path: Path, alone: None) -> Project:  # noqa: ARG001 - held until the test has ended
    """As the version before left it, but for the person's file, which is gone by now."""
    root = tmp_path / "project"
    root.mkdir()
    new_repository(root)
    project = Project(root)
    project.git("fetch", "--quiet", "--update-head-ok", str(GOLDEN / "repository.bundle"), "+refs/*:refs/*")
    project.git("reset", "--quiet", "--hard")
    shutil.copytree(GOLDEN / "journal", root / ".aot")
    (root / ".aot" / ".gitignore").write_text("*\n")
    shutil.copy(GOLDEN / "state.md", root / ".claude" / "aot-loop-state.md")
    return project


def test_a_run_that_the_version_before_was_killed_in_goes_on_where_it_was(project: Project) -> None:
    ran = project.run()
    assert ran.code == 0, ran.out
    began = [(one["atom"], one["attempt"]) for one in ran.kinds("attempt_began")]
    assert began == [("A2", 6), ("A4", 7)]  # nothing is done twice, and no number is used twice
    assert set(project.statuses().values()) == {"resolved"}
    assert project.files() >= {"a1", "a3", "a4", "one", "two"}
    assert project.is_clean()
    assert leftovers(project) == []


def test_a_failed_attempt_of_the_version_before_is_where_the_next_one_starts(project: Project) -> None:
    ran = project.run()
    assert ran.code == 0, ran.out
    (prompt,) = project.root.glob(".aot/attempts/A2-[5-9]/prompt.md")
    assert "Attempt 2 got part of it done, and the folder holds what it left." in prompt.read_text()


def test_what_attempts_of_the_version_before_cost_is_counted_once(project: Project) -> None:
    before = project.loop.control.cost_usd
    assert project.run().code == 0
    assert before == 1.5
    assert project.loop.control.cost_usd == 2.5  # for A2, again, and A4


def test_what_was_written_by_the_version_before_is_kept_and_written_the_same(project: Project) -> None:
    journal = (GOLDEN / "journal" / "events.jsonl").read_text()
    assert project.run().code == 0
    assert (project.root / ".aot" / "events.jsonl").read_text().startswith(journal)
    old, new = (_used(folder / "attempts" / "A1-1") for folder in (GOLDEN / "journal", project.root / ".aot"))
    assert old == new
    assert _used(project.root / ".aot" / "attempts" / "A3-3").keys() == old.keys()


def _used(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "used.json").read_text())
    return record
