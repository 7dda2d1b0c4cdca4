"""Which file a tool is about to write: links are followed, and a worktree's file is the project's file of that name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from aotloop.hooks.guarding import Target
from aotloop.statefile.locate import project_root


def target(path: str, cwd: str, state_file: str) -> Target:
    """`state_file` as it really is, with no links in its path."""
    real = os.path.realpath(os.path.join(cwd, path))
    tops = [os.path.realpath(project_root(state_file)), *_tops_above(real)]
    inside = tuple(dict.fromkeys(os.path.relpath(real, top) for top in tops))
    return Target(inside=inside, is_state_file=_is_same(real, state_file))


def _tops_above(real: str) -> Iterator[str]:
    """Worktrees and submodules have a file for a `.git`. In a worktree the project's files are at other places."""
    folder = os.path.dirname(real)
    while folder != os.path.dirname(folder):
        if os.path.isfile(os.path.join(folder, ".git")):
            yield folder
        folder = os.path.dirname(folder)


def _is_same(real: str, state_file: str) -> bool:
    """Regardless of case where the file system is."""
    if real == state_file:
        return True
    try:
        return os.path.samefile(real, state_file)
    except OSError:
        return False
