"""take_back: what was given up leaves the branch, whole, and what counts stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.statefile.store import Store
from tests.git.checkouts import head, make_checkout, sh, write
from tests.holders import held_by_another
from tests.loops import atom
from tests.scripts.calling import call
from tests.scripts.repositories import dirty, integrated, loop_in_session, worktree

WHY = ("--reason", "another way is tried")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A1 and then A2 have contributed something."""
    folder = make_checkout(tmp_path / "project")
    monkeypatch.chdir(folder)
    loop_in_session(folder, *(atom(name, status="in_progress") for name in ("A1", "A2")))
    for name in ("A1", "A2"):
        place = worktree(folder, name, {f"{name}.txt": "x\n", "shared.txt": f"by {name}\n"})
        call("integrate", name, "--worktree", str(place), "--summary", "s")
    return folder


def given_up(project: Path, *names: str) -> None:
    def change(loop: Loop) -> None:
        loop.atoms[:] = [replace(one, status="pending") if one.id in names else one for one in loop.atoms]
        for name in names:
            loop.bindings.pop(name)

    Store(str(project / ".claude" / "aot-loop-state.md")).update(change)


def test_what_was_given_up_leaves_the_branch(project: Path) -> None:
    given_up(project, "A1", "A2")
    told = call("take_back", "A1,A2", *WHY)
    assert (told["success"], told["commit"]) == (True, head(project))
    assert not any((project / name).exists() for name in ("A1.txt", "A2.txt", "shared.txt"))
    assert dirty(project) == ""
    assert call("take_back", "A1,A2", *WHY)["commit"] is None


def test_what_still_counts_is_not_taken_back(project: Path) -> None:
    before = head(project)
    assert "A1 contributed counts" in call("take_back", "A1", *WHY, code=1)["error"]
    assert head(project) == before


def test_what_others_built_on_is_a_conflict_and_nothing_changes(project: Path) -> None:
    given_up(project, "A1")
    before = head(project)
    told = call("take_back", "A1", *WHY, code=1)
    assert (told["success"], told["conflict"], told["with"]) == (False, ["shared.txt"], ["A2"])
    assert (head(project), dirty(project)) == (before, "")


def test_edits_of_a_person_in_the_way_stay_as_they_are(project: Path) -> None:
    given_up(project, "A2")
    write(project, {"A2.txt": "mine\n"})
    told = call("take_back", "A2", *WHY, code=1)
    assert (told["why"], told["blocked"]) == ("blocked", ["A2.txt"])
    assert (project / "A2.txt").read_text() == "mine\n"


def test_the_same_work_can_come_back(project: Path) -> None:
    given_up(project, "A2")
    call("take_back", "A2", *WHY)
    call("update_atom", "A2", "in_progress")
    place = worktree(project, "A2", {"A2.txt": "x\n", "shared.txt": "by A2\n"})
    told = call("integrate", "A2", "--worktree", str(place), "--summary", "s")
    assert (told["was_done_before"], told["commit"]) == (False, head(project))
    assert (project / "A2.txt").exists()
    assert integrated(project) == ["A1", "A2", "A2", "A2"]


def test_not_beside_a_run(project: Path) -> None:
    given_up(project, "A2")
    with held_by_another(project / ".claude" / "aot-loop-state.md"):
        assert "runs this loop" in call("take_back", "A2", *WHY, code=1)["error"]
    assert "Take back" not in sh(project, "log", "--format=%s")
