"""What in the person's checkout is somebody's work: not what belongs to the loop, nor worktrees of the client."""

from __future__ import annotations

from pathlib import Path

from aotloop.statefile.belongings import our_files
from aotloop.workspace.repository import Repository, find_repository

WORKTREES = ".claude/worktrees"
"""Where the client makes them, in the project; nothing puts that folder into an ignore file."""


def never_work(state_file: str, repository: Repository) -> list[str]:
    """Paths from the top of the repository."""
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    ours = [f"{prefix}{path}" for path in our_files(state_file, str(repository.root))]
    return [*ours, WORKTREES, f"{prefix}{WORKTREES}"]


def work_in_progress(state_file: str, root: Path) -> tuple[str, ...]:
    """What is not committed; nothing where there is no repository."""
    repository = find_repository(root)
    return repository.dirty(never_work(state_file, repository)) if repository is not None else ()
