"""The base case runs behind its fence before a person agrees, too: an agent may have proposed its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.app.align.draft_file import read_draft
from aotloop.app.align.shape import run_base_case, shape_of
from aotloop.checks.results import Report
from tests.git.checkouts import make_checkout
from tests.patience import PATIENCE
from tests.process.sandbox.worlds import engines


def tried(root: Path, command: str) -> Report:
    check = f"{{type: command, value: '{command}'}}"
    content = f"goal: It works\nbase_case:\n  checklist:\n    - item: it works\n      check: {check}\n"
    shape = shape_of(read_draft(content.encode(), "the draft"), None)
    return run_base_case(shape, str(root / ".claude" / "aot-loop-state.md"), timeout=PATIENCE)


@pytest.mark.parametrize("engine", engines())
def test_a_command_of_a_proposal_changes_nothing_that_a_person_decided(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("AOT_SANDBOX", engine)
    decided = own_home / ".local" / "share" / "aotloop"
    decided.mkdir(parents=True)
    report = tried(make_checkout(tmp_path / "project"), f"echo x > {decided}/planted")
    assert not report.passed
    assert not (decided / "planted").exists()


@pytest.mark.parametrize("engine", engines())
def test_a_command_of_a_proposal_that_changes_git_proves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setenv("AOT_SANDBOX", engine)
    root = make_checkout(tmp_path / "project")
    before = (root / ".git" / "config").read_text()
    report = tried(root, "echo [alias] >> .git/config; true")
    assert report.undecided or engine == "bwrap"
    assert (root / ".git" / "config").read_text() == before
    assert tried(root, "echo x > made").passed, "it may build"
