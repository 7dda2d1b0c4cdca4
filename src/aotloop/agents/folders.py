"""The folders of a repository from its top down to where an agent works: where clients look for what is theirs."""

from __future__ import annotations

from pathlib import Path


def folders_of(cwd: Path) -> tuple[Path, ...]:
    """The top first; this one alone, where there is no repository."""
    upwards = (cwd, *cwd.parents)
    depth = next((number for number, folder in enumerate(upwards) if (folder / ".git").exists()), 0)
    return tuple(reversed(upwards[: depth + 1]))
