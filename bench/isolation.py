"""One attempt in isolation, from a worktree at HEAD to its commit on the branch, against adding and removing one."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median

from aotloop.git.checkout.fast_forward import Landed
from aotloop.git.commits.attempt_commit import commit
from aotloop.git.commits.integration import Conflict, land, prepare
from aotloop.git.repository import Repository, find_repository
from aotloop.git.worktrees.pool import Pool
from bench.measure import Row, in_turn

ROUNDS = 21
FILES = 1_000


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = Path(folder, "ours"), Path(folder, "plain")
        for path in (ours, plain):
            _make(path)
        repository = find_repository(ours)
        if repository is None:
            raise AssertionError("it was just made")
        with Pool(repository, Path(folder, "pool")) as pool:
            pool.give_back(pool.take(repository.head().commit))  # as any attempt after the first finds it
            contenders: dict[str, Callable[[], object]] = {
                "ours": _pooled(pool, repository),
                "plain": _added_and_removed(plain, Path(folder, "worktree")),
            }
            medians = in_turn(contenders, ROUNDS, median)
    yield Row(
        f"isolated attempt at {FILES:,} files / worktree add…remove",
        medians["ours"],
        medians["plain"],
        "goal: at most 0.1",
        "other",
    )


def _pooled(pool: Pool, repository: Repository) -> Callable[[], None]:
    numbers = count()

    def attempt() -> None:
        head = repository.head()
        worktree = pool.take(head.commit)
        _work(worktree.path, next(numbers))
        prepared = prepare(repository, commit(worktree, "work", {"Aot-Atom": "A1"}))
        outcome = None if isinstance(prepared, Conflict) else land(repository, prepared, head.branch)
        assert isinstance(outcome, Landed), "no other process is at work"
        pool.give_back(worktree)

    return attempt


def _added_and_removed(top: Path, worktree: Path) -> Callable[[], None]:
    numbers = count()

    def attempt() -> None:
        number = next(numbers)
        _git(top, "worktree", "add", "-q", "--detach", str(worktree))
        _work(worktree, number)
        _git(worktree, "add", "-A")
        _git(worktree, "commit", "-q", "-m", "work")
        _git(top, "merge", "-q", "--ff-only", _git(worktree, "rev-parse", "HEAD"))
        _git(top, "worktree", "remove", str(worktree))

    return attempt


def _work(folder: Path, number: int) -> None:
    edited = folder / "folder-7" / "file-7.txt"
    edited.unlink()  # some file systems flush a file that is emptied and written again
    edited.write_text(f"changed {number}\n")
    (folder / f"new-{number}.txt").write_text("new\n")


def _make(top: Path) -> None:
    for number in range(FILES):
        path = top / f"folder-{number % 40}" / f"file-{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"line {number}\n" * 50)
    _git(top, "init", "-q", "-b", "main")
    _git(top, "config", "user.name", "bench")
    _git(top, "config", "user.email", "bench@localhost")
    _git(top, "add", "-A")
    _git(top, "commit", "-q", "-m", "start")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()
