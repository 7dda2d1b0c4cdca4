"""Files that git calls changed right after writing them itself are nobody's work, as long as they stay as they are.

Line endings, or a filter, that do not lead back to what was committed do this. When a worktree is handed out, they are
noted with what git would make of them; what git makes the same of afterwards was not touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from aotloop.workspace.desks import Desk
from aotloop.workspace.objects import Change

NOISE = "aot-noise"


def note(desk: Desk) -> None:
    """To be called when git has just written the files, and nobody else was there."""
    desk.git("add", "--update")
    lines = [f"{change.blob} {change.path}\0" for change in desk.changes()]
    (desk.git_dir / NOISE).write_bytes(os.fsencode("".join(lines)))


def forget(desk: Desk) -> None:
    (desk.git_dir / NOISE).unlink(missing_ok=True)


def without(desk: Desk, found: Iterable[Change]) -> list[Change]:
    """Puts the noise among the changes of our index back as it was in the commit."""
    found = list(found)
    noise = _noted(desk)
    same = [change for change in found if (change.path, change.blob) in noise]
    if same:
        lines = [f"{change.mode_before} {change.blob_before} 0\t{change.path}\0" for change in same]
        desk.git("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))
    return [change for change in found if change not in same]


def _noted(desk: Desk) -> set[tuple[str, str]]:
    try:
        lines = os.fsdecode((desk.git_dir / NOISE).read_bytes()).split("\0")[:-1]
    except FileNotFoundError:
        return set()
    return {(path, blob) for blob, _, path in (line.partition(" ") for line in lines)}
