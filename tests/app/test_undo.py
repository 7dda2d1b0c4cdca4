"""`aot undo` takes back what was merged, as reverts; the history stays."""

from __future__ import annotations

import json
from pathlib import Path

from tests.loops import atom
from tests.runner.projects import Project, a_project


def completed(tmp_path: Path) -> Project:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run="echo b > b"),
        atom("A3", run="echo c > c"),
        base_case="test -f a -a -f b -a -f c",
    )
    assert project.run().code == 0
    return project


def test_undo_takes_back_all_that_a_run_merged(tmp_path: Path) -> None:
    project = completed(tmp_path)
    before = len(project.subjects())
    done = json.loads(project.aot("undo", "--json").out)
    assert (sorted(done["atoms"]), done["reopened"]) == (["A1", "A2", "A3"], ["A1", "A2", "A3"])
    assert not {"a", "b", "c"} & project.files()
    assert len(project.subjects()) == before + 3
    assert (project.loop.control.status, set(project.statuses().values())) == ("stopped", {"pending"})
    assert project.run().code == 0
    assert {"a", "b", "c"} <= project.files()


def test_undo_of_an_atom_takes_what_was_built_on_it_and_leaves_the_rest(tmp_path: Path) -> None:
    project = completed(tmp_path)
    assert json.loads(project.aot("undo", "A1", "--dry-run", "--json").out)["atoms"] == ["A2", "A1"]
    assert project.loop.control.status == "completed"
    assert "reverted: A2, A1; open again: A1, A2" in project.aot("undo", "A1").out
    assert {"a", "b"} & project.files() == set()
    assert project.statuses() == {"A1": "pending", "A2": "pending", "A3": "resolved"}


def test_a_later_change_of_a_person_keeps_everything_as_it_is(tmp_path: Path) -> None:
    project = completed(tmp_path)
    (project.root / "a").write_text("mine\n")
    project.git("commit", "-qam", "by hand")
    refused = project.aot("undo")
    assert refused.code == 1
    assert "cannot be reverted: a changed since" in refused.err
    assert {"a", "b", "c"} <= project.files()
    assert project.loop.control.status == "completed"
