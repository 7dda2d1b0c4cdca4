"""Real repositories for tests, made with plain git, and what is compared before and after."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from aotloop.git.checkout.fast_forward import Landed
from aotloop.git.commits.attempt_commit import Committed, commit
from aotloop.git.commits.integration import Conflict, Prepared, land, prepare
from aotloop.git.repository import Repository, find_repository
from aotloop.git.worktrees.pool import Pool
from aotloop.git.worktrees.worktree import Worktree
from tests.repositories import new_repository

MAIN = "refs/heads/main"


def sh(folder: Path, *words: str, check: bool = True) -> str:
    """Plain git, as the person or the agent would call it."""
    done = subprocess.run(["git", *words], cwd=folder, check=False, capture_output=True)
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(words)}: {done.stderr.decode()}")
    return os.fsdecode(done.stdout).strip("\n")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # some file systems flush a file that is emptied and written again
        path.write_bytes(content.encode())


def nested(folder: Path, depth: int) -> None:
    """Folders in folders; no program could name the last one."""
    inner = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)


def make_checkout(folder: Path, files: dict[str, str] | None = None) -> Path:
    folder.mkdir(parents=True)
    new_repository(folder)
    write(folder, {"a.txt": "a\n", "b.txt": "b\n", "src/c.txt": "c\n"} if files is None else files)
    if files is None or files:
        save(folder, "start")
    return folder


def save(folder: Path, message: str = "work") -> str:
    sh(folder, "add", "-A")
    sh(folder, "commit", "-q", "-m", message)
    return sh(folder, "rev-parse", "HEAD")


def opened(folder: Path) -> Repository:
    repository = find_repository(folder)
    assert repository is not None
    return repository


def head(folder: Path) -> str:
    return sh(folder, "rev-parse", "HEAD")


def facts(folder: Path) -> dict[str, str]:
    """All that must be as it was, once we are gone."""
    return {
        "worktrees": sh(folder, "worktree", "list", "--porcelain"),
        "refs": sh(folder, "for-each-ref"),
        "status": sh(folder, "status", "--porcelain=v2", "--ignored"),
        "config": (folder / ".git" / "config").read_text(),
        "private": str(sorted(path.name for path in (folder / ".git").glob("aot*"))),
    }


def done_by(worktree: Worktree, files: dict[str, str], atom: str = "A1", attempt: int = 1) -> Committed:
    write(worktree.path, files)
    return commit(worktree, f"{atom}: work", {"Aot-Atom": atom, "Aot-Attempt": str(attempt), "Aot-Run": "r1"})


def prepared_from(pool: Pool, repository: Repository, files: dict[str, str], atom: str = "A1") -> Prepared:
    worktree = pool.take(repository.head().commit)
    prepared = prepare(repository, done_by(worktree, files, atom))
    pool.give_back(worktree)
    assert not isinstance(prepared, Conflict)
    return prepared


def landed_from(pool: Pool, repository: Repository, files: dict[str, str], atom: str = "A1") -> str:
    outcome = land(repository, prepared_from(pool, repository, files, atom), repository.head().branch)
    assert isinstance(outcome, Landed), outcome
    return outcome.commit
