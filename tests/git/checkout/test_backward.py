"""The checkout goes back by whole commits: changes of a person stay as they are, or stand in the way."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved, Step, landing
from aotloop.git.repository import Repository
from tests.git.checkouts import MAIN, head, save, sh, write


def two_commits(checkout: Path) -> tuple[str, str]:
    before = head(checkout)
    write(checkout, {"new/file": "x\n", "a.txt": "changed\n"})
    save(checkout, "work")
    return before, head(checkout)


def test_other_changes_of_the_person_stay_as_they_are_staged_or_not(repository: Repository, checkout: Path) -> None:
    before, after = two_commits(checkout)
    write(checkout, {"staged": "mine\n", "b.txt": "mine too\n"})
    sh(checkout, "add", "staged")
    with landing(repository) as lander:
        assert lander.go(Step(after, before, MAIN)) == Landed(before)
    assert head(checkout) == before
    assert not (checkout / "new").exists()
    assert sh(checkout, "status", "--porcelain").split() == ["M", "b.txt", "A", "staged"]


def test_a_change_of_the_same_file_stands_in_the_way_and_nothing_moves(repository: Repository, checkout: Path) -> None:
    before, after = two_commits(checkout)
    write(checkout, {"a.txt": "the person's\n"})
    with landing(repository) as lander:
        done = lander.go(Step(after, before, MAIN))
    assert isinstance(done, Blocked)
    assert done.paths == ("a.txt",)
    assert (head(checkout), (checkout / "a.txt").read_text()) == (after, "the person's\n")
    assert (checkout / "new" / "file").read_text() == "x\n"


def test_a_commit_on_top_of_it_keeps_it(repository: Repository, checkout: Path) -> None:
    before, after = two_commits(checkout)
    write(checkout, {"more": "more\n"})
    save(checkout, "by a person")
    with landing(repository) as lander:
        assert lander.go(Step(after, before, MAIN)) == Moved(head(checkout))


def test_a_move_that_was_killed_before_the_branch_moved_is_finished_by_the_next(
    repository: Repository, checkout: Path
) -> None:
    before, after = two_commits(checkout)
    sh(checkout, "read-tree", "-m", "-u", after, before)
    sh(checkout, "read-tree", after)  # git worked on a copy: the index is still the one of before
    (checkout / ".git" / "index.lock").write_bytes(b"aot\n" + msgspec.json.encode(Step(after, before, MAIN)))
    with landing(repository):
        pass
    assert head(checkout) == before
    assert sh(checkout, "status", "--porcelain") == ""
