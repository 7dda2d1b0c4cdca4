"""What was integrated is read from the branch."""

from __future__ import annotations

from pathlib import Path

from aotloop.git.commits.integration import Integrated, commits_of
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import head, landed_from, make_checkout, opened, save, sh, write


def test_a_repository_without_commits_has_no_history(tmp_path: Path) -> None:
    assert commits_of(opened(make_checkout(tmp_path / "empty", {}))) == []


def test_commits_of_ours_are_listed_newest_first(pool: Pool, repository: Repository, checkout: Path) -> None:
    start = head(checkout)
    first = landed_from(pool, repository, {"a.txt": "1\n"}, "A1")
    write(checkout, {"mine": "x"})
    mine = save(checkout, "the person's")
    second = landed_from(pool, repository, {"b.txt": "2\n"}, "A 2\n%ü")
    assert commits_of(repository) == [
        Integrated(second, mine, "A 2\n%ü", "1", "r1", None),
        Integrated(first, start, "A1", "1", "r1", None),
    ]
    assert [one.sha for one in commits_of(repository, since=first)] == [second]
    assert [one.sha for one in commits_of(repository, paths=["a.txt"])] == [first]
    assert commits_of(repository, run="r2") == []


def test_words_in_the_text_are_no_trailers(checkout: Path, repository: Repository) -> None:
    write(checkout, {"a.txt": "x"})
    save(checkout, "Aot-Atom: A9\n\nThis says Aot-Atom: A9 and more.")
    sh(checkout, "commit", "--allow-empty", "-q", "-m", "x\n\nAot-Atom: A9\n\nThe end.")
    assert commits_of(repository) == []
