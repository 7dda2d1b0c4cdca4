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
    """Worktrees of a run that is alive."""


def clean(repository: Repository, folder: Path | None = None) -> Cleaned:
    """Says what it removed. What a crashed landing left unfinished is finished first."""
    with landing(repository):
        refs = repository.git("for-each-ref", "--format=%(refname)", REFS).text.split()
        orders = "".join(f"delete {ref}\n" for ref in refs)
        repository.git("update-ref", "--stdin", stdin=orders.encode())
        pool = Pool(repository, folder)
        before = pool.worktrees()
        pool.close()
        after = pool.worktrees()
        if not after:
            (repository.common_dir / LOCK).unlink(missing_ok=True)
    return Cleaned(tuple(refs), tuple(path for path in before if path not in after), tuple(after))
