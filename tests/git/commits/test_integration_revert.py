"""What was given up is taken back, newest first, known by its commit, all or nothing."""

from __future__ import annotations

from pathlib import Path

from aotloop.git.checkout.fast_forward import Blocked, Landed
from aotloop.git.commits.integration import Conflict, commits_of, revert
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import MAIN, facts, head, landed_from, make_checkout, opened, save, sh, write


def subjects(checkout: Path, count: int) -> list[str]:
    return sh(checkout, "log", f"-{count}", "--format=%s").splitlines()


def test_nothing_to_take_back_is_none(pool: Pool, repository: Repository, checkout: Path) -> None:
    landed_from(pool, repository, {"a.txt": "x\n"}, "A1")
    before = facts(checkout)
    assert revert(repository, ["A2"], MAIN) is None
    assert facts(checkout) == before


def test_every_commit_of_the_atoms_is_undone_and_others_stay(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    first = landed_from(pool, repository, {"a.txt": "1\n", "new": "x\n"}, "A1")
    landed_from(pool, repository, {"b.txt": "2\n"}, "A2")
    third = landed_from(pool, repository, {"a.txt": "1\n3\n"}, "A3")
    outcome = revert(repository, ["A1", "A3"], MAIN)
    assert outcome == Landed(head(checkout))
    assert (checkout / "a.txt").read_text() == "a\n"
    assert (checkout / "b.txt").read_text() == "2\n"
    assert not (checkout / "new").exists()
    assert sh(checkout, "status", "--porcelain") == ""
    assert subjects(checkout, 2) == ["Take back A1", "Take back A3"]
    known = commits_of(repository)
    assert [(one.atom, one.reverts) for one in known[:2]] == [("A1", first), ("A3", third)]
    assert known[0].run == "r1"


def test_what_was_taken_back_is_not_taken_back_again(pool: Pool, repository: Repository, checkout: Path) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    revert(repository, ["A1"], MAIN)
    after = head(checkout)
    assert revert(repository, ["A1"], MAIN) is None
    assert head(checkout) == after


def test_what_came_again_under_the_same_id_is_another_commit(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    revert(repository, ["A1"], MAIN)
    again = landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    assert isinstance(revert(repository, ["A1"], MAIN), Landed)
    assert (checkout / "a.txt").read_text() == "a\n"
    assert commits_of(repository)[0].reverts == again
    assert sh(checkout, "rev-list", "--count", "HEAD") == "5"


def test_what_the_person_took_back_by_hand_needs_nothing(pool: Pool, repository: Repository, checkout: Path) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    sh(checkout, "revert", "--no-edit", "HEAD")
    assert revert(repository, ["A1"], MAIN) is None


def test_a_conflict_changes_nothing_and_names_who_built_on_it(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    first = landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    landed_from(pool, repository, {"b.txt": "2\n"}, "A2")
    third = landed_from(pool, repository, {"a.txt": "3\n"}, "A3")
    before = facts(checkout)
    conflict = revert(repository, ["A2", "A1"], MAIN)
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("a.txt",)
    assert [one.sha for one in conflict.commits] == [third, first]
    assert facts(checkout) == before


def test_edits_of_the_person_in_the_way_block(pool: Pool, repository: Repository, checkout: Path) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    write(checkout, {"a.txt": "the person's\n"})
    outcome = revert(repository, ["A1"], MAIN)
    assert isinstance(outcome, Blocked)
    assert outcome.paths == ("a.txt",)
    assert (checkout / "a.txt").read_text() == "the person's\n"


def test_only_what_came_since_the_start_of_this_run_is_taken_back(
    pool: Pool, repository: Repository, checkout: Path
) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    start = head(checkout)
    landed_from(pool, repository, {"b.txt": "2\n"}, "A1")
    assert isinstance(revert(repository, ["A1"], MAIN, since=start), Landed)
    assert ((checkout / "a.txt").read_text(), (checkout / "b.txt").read_text()) == ("1\n", "b\n")
    assert revert(repository, ["A1"], MAIN, run="another") is None


def test_the_first_commit_of_a_repository_can_be_taken_back(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "empty", {})
    repository = opened(checkout)
    with Pool(repository, tmp_path / "pool") as pool:
        landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
        assert isinstance(revert(repository, ["A1"], MAIN), Landed)
    assert not (checkout / "a.txt").exists()


def test_work_of_the_person_in_between_stays(pool: Pool, repository: Repository, checkout: Path) -> None:
    landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    write(checkout, {"mine.txt": "m\n"})
    save(checkout, "mine")
    assert isinstance(revert(repository, ["A1"], MAIN), Landed)
    assert (checkout / "mine.txt").read_text() == "m\n"
