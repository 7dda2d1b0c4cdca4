"""Cleanup: removes everything of ours from a repository, except what a living run still uses."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from aotloop.git.checkout.fast_forward import LOCK, landing
from aotloop.git.repository import Repository
from aotloop.git.worktrees.foreign import remove_guests
from aotloop.git.worktrees.pool import Pool

REFS = "refs/aot/"


class Cleaned(msgspec.Struct, frozen=True):
    refs: tuple[str, ...]
    worktrees: tuple[Path, ...]
    in_use: tuple[Path, ...]
    """Worktrees of a living run; then the refs stay, too, because they may belong to that run."""


def clean(repository: Repository, *folders: Path | None) -> Cleaned:
    """`folders` hold worktrees, None: the usual one. The unfinished landing of a crashed run is finished first."""
    with landing(repository):
        removed: list[Path] = []
        in_use: list[Path] = []
        for pool in {
            found.folder: found for found in (Pool(repository, folder) for folder in folders or (None,))
        }.values():
            before = pool.worktrees()
            pool.close()
            after = pool.worktrees()
            removed += [path for path in before if path not in after]
            in_use += after
        refs: list[str] = []
        if not in_use:
            refs = repository.git("for-each-ref", "--format=%(refname)", REFS).text.split()
            orders = "".join(f"delete {ref}\n" for ref in refs)
            repository.git("update-ref", "--stdin", stdin=orders.encode())
            (repository.common_dir / LOCK).unlink(missing_ok=True)
            remove_guests(repository)
            with contextlib.suppress(OSError):  # a clean tree is in use
                repository.own_folder.rmdir()
    return Cleaned(tuple(refs), tuple(removed), tuple(in_use))
