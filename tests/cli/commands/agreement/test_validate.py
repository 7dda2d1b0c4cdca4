"""`aot validate` names every mistake with its place; only errors make it fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def test_a_valid_file_passes(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    ran = aot("validate")
    assert ran.code == 0
    assert ran.out == "✔ .claude/aot-loop-state.md: 0 errors, 0 warnings\n"
    assert "aot gate" in ran.err


def test_every_error_is_told_with_its_place(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", "A7"), atom("A2", "A3"), atom("A3", "A2")))
    line = path.read_text().splitlines().index("  - id: A1") + 1
    ran = aot("validate")
    assert ran.code == 1
    assert "A7" in ran.out
    assert f"line {line}" in ran.out or f"line {line + 3}" in ran.out
    assert "cycle" in ran.out
    assert "2 errors" in ran.out
    assert "edit .claude/aot-loop-state.md" in ran.err


def test_warnings_do_not_fail(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text().replace("objective:\n", "objective:\n  scope: everything\n"))
    ran = aot("validate", "--json")
    assert ran.code == 0
    assert ran.json["valid"] is True
    assert len(ran.json["warnings"]) == 1
    assert "objective.scope" in ran.json["warnings"][0]


def test_reading_commands_work_on_a_file_with_warnings(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    path.write_text(path.read_text().replace("objective:\n", "objective:\n  scope: everything\n"))
    for words in (["status"], ["atom", "list"], ["atom", "show", "A1"], ["graph"], ["log"], ["gate", "--no-run"]):
        ran = aot(*words)
        assert "aot:" not in ran.err, words
        assert ran.out, words


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\na: [b\n---\n", "not readable as YAML"),
        ("---\n---\n", "nothing between"),
        ("", "does not begin with a line `---`"),
        ("hello\n", "does not begin with a line `---`"),
        ("---\natoms: 3\n---\n", "atoms: expected a list"),
    ],
)
def test_a_file_that_is_no_state_file_is_explained(project: Path, text: str, told: str) -> None:
    (project / ".claude" / "aot-loop-state.md").write_text(text)
    ran = aot("validate")
    assert ran.code == 1
    assert told in ran.out
    as_json = aot("validate", "--json")
    assert as_json.code == 1
    assert as_json.json["valid"] is False
    assert as_json.json["errors"]


def test_another_file_is_named_in_the_next_steps(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"))).rename(project / "other file.md")
    ran = aot("validate", "--state-file", "other file.md")
    assert ran.code == 0
    assert "aot gate --state-file 'other file.md'" in ran.err
