"""Files that git was told to overlook, and that are not what is committed: its own status is silent about them."""

from __future__ import annotations

import os

from aotloop.workspace.repository import Repository

_NOT_CHECKED_OUT = "S"
_FILE = "100"


def overlooked(repository: Repository) -> list[str]:
    """By `update-index --assume-unchanged` or `--skip-worktree`. What a sparse checkout leaves out is not missed."""
    told = [entry for entry in repository.git("ls-files", "-v", "-s", "-z").fields if _is_marked(entry)]
    looked_at: dict[str, str] = {}
    found: list[str] = []
    for entry in told:
        facts, _, path = entry.partition("\t")
        tag, mode, blob, _ = facts.split(" ")
        file = repository.top / path
        if os.path.lexists(file):
            if mode.startswith(_FILE) and file.is_file() and not file.is_symlink() and "\n" not in path:
                looked_at[path] = blob
            else:
                found.append(path)
        elif tag.upper() != _NOT_CHECKED_OUT:
            found.append(path)
    return found + _changed(repository, looked_at)


def _is_marked(entry: str) -> bool:
    return entry[:1].islower() or entry[:1] == _NOT_CHECKED_OUT


def _changed(repository: Repository, blobs: dict[str, str]) -> list[str]:
    """What would be committed of them is compared, so that line ends are the checkout's business."""
    if not blobs:
        return []
    asked = os.fsencode("".join(f"{path}\n" for path in blobs))
    now = repository.git("hash-object", "--stdin-paths", stdin=asked).text.split("\n")
    return [path for (path, blob), one in zip(blobs.items(), now, strict=True) if blob != one]
