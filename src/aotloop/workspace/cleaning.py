"""Everything of ours is removed from a repository, except what a run that is alive still uses."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.workspace.landing import LOCK, landing
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository

REFS = "refs/aot/"


class Cleaned(msgspec.Struct, frozen=True):
    refs: tuple[str, ...]
    worktrees: tuple[Path, ...]
    in_use: tuple[Path, ...]
    """Worktrees of a run that is alive; then the refs stay, too, which may be that run's."""


def clean(repository: Repository, *folders: Path | None) -> Cleaned:
    """`folders` for worktrees, None: the usual one. What a crashed landing left unfinished is finished first."""
    with landing(repository):
        removed: list[Path] = []
        in_use: list[Path] = []
        for pool in {one.folder: one for one in (Pool(repository, folder) for folder in folders or (None,))}.values():
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
    return Cleaned(tuple(refs), tuple(removed), tuple(in_use))
