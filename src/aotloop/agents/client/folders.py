"""The folders of a repository from its top down to an agent's folder: clients look for their files in them."""

from __future__ import annotations

from pathlib import Path


def folders_of(cwd: Path) -> tuple[Path, ...]:
    """The top comes first; without a repository, only this folder."""
    upwards = (cwd, *cwd.parents)
    depth = next((number for number, folder in enumerate(upwards) if (folder / ".git").exists()), 0)
    return tuple(reversed(upwards[: depth + 1]))


def leads_out(cwd: Path, name: str) -> list[Path]:
    """Files of this name, in those folders, that are links to places outside of the repository."""
    folders = folders_of(cwd)
    top = folders[0].resolve()
    return [file for file in (folder / name for folder in folders) if not file.resolve().is_relative_to(top)]
