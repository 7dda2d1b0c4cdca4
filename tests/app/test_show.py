"""What is known of an atom and an attempt is one value, whatever became of the attempt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.app.show import show_atom, show_attempt
from aotloop.core.model import AtomCheck
from aotloop.errors import AotError
from aotloop.statefile.store import Store
from tests.loops import atom
from tests.runner.projects import Project, a_project


def ran(tmp_path: Path) -> Project:
    project = a_project(
        tmp_path,
        atom("A1", run="echo hello; echo hi > a.txt", check=AtomCheck(type="command", value="cat a.txt")),
        atom("A2", "A1", run="echo no > b.txt; echo sorry; false"),
        base_case="test -f b.txt",
    )
    assert project.run().code == 4
    return project


def test_one_name_for_an_attempt_everywhere(tmp_path: Path) -> None:
    project = ran(tmp_path)
    events = (project.root / ".aot" / "events.jsonl").read_text()
    named = {json.loads(line).get("name") for line in events.splitlines()} - {None, ""}
    assert named == {"A1#1", "A2#1"}
    for words in (["log"], ["log", "A2"], ["show", "A2"], ["log", "A2", "--json"]):
        assert "A2#1" in project.aot(*words).out, words


def test_show_has_transcript_diff_checks_and_what_became_of_it(tmp_path: Path) -> None:
    store = Store(str(ran(tmp_path).state_file))
    facts = show_attempt(store, "A1#1")
    assert [step.text for step in facts.transcript if step.kind == "prints"] == ["hello"]
    assert [(file.path, file.change, file.added) for file in facts.diff] == [("a.txt", "added", 1)]
    assert [(part.passed, "hi" in part.evidence) for part in facts.attempt.checks] == [(True, True)]
    assert facts.fate.startswith("merged as ")
    failed = show_attempt(store, "A2")
    assert (failed.attempt.name, failed.attempt.fate, failed.diff[0].path) == ("A2#1", "failed", "b.txt")
    assert "sorry" in failed.fate


def test_an_unknown_attempt_is_refused_with_those_there_are(tmp_path: Path) -> None:
    store = Store(str(ran(tmp_path).state_file))
    with pytest.raises(AotError, match="there is no attempt A1#2") as refused:
        show_attempt(store, "A1#2")
    assert refused.value.hint == "There is: A1#1."
    assert [one.name for one in show_atom(store, "A1").attempts] == ["A1#1"]


def test_aot_log_tells_successes_too_and_one_line_per_thing(tmp_path: Path) -> None:
    project = ran(tmp_path)
    kinds = [entry["kind"] for entry in json.loads(project.aot("log", "--json").out)["entries"]]
    assert kinds == ["run_began", "verified", "resolved", "failure", "verified", "run_ended"]


def test_aot_diff_is_a_patch_that_git_applies(tmp_path: Path) -> None:
    project = ran(tmp_path)
    (tmp_path / "a.patch").write_text(project.aot("diff", "A2#1").out)
    project.git("apply", str(tmp_path / "a.patch"))
    assert (project.root / "b.txt").read_text() == "no\n"
