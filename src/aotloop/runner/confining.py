"""What an agent in a worktree may not change: the person's checkout, what git keeps but for the worktree's part, and
what the person has accepted, agreed on and confirmed. The last only where the checkout lies in the person's home: to
close something there is to forbid anything new in the home itself, which tools need.

So it can look at the history, move and remove files with git, and put back what it changed; it cannot commit, since
whoever may add to git's objects may remove all of them. What it leaves in its folder is committed for it.
"""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.agents.confinement import Confinement
from aotloop.trust.folder import whole_folder
from aotloop.workspace.desks import Desk
from aotloop.workspace.repository import is_at_or_in


def confinement_at(desk: Desk, linked: tuple[Path, ...] = ()) -> Confinement | None:
    """`linked`: what of the checkout is shared with worktrees. None: where the person's home lies in the checkout, the
    clients' own files do, too, and nothing could be started.
    """
    repository = desk.repository
    closed = tuple(dict.fromkeys((repository.top, repository.common_dir)))
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111 - never raises
    if any(is_at_or_in(home, os.path.realpath(one)) for one in closed):
        return None
    decided = whole_folder()
    if decided is not None and any(is_at_or_in(os.path.realpath(one), home) for one in closed):
        closed = (*closed, decided)
    return Confinement(closed=closed, open=(desk.path, desk.git_dir, *linked))
