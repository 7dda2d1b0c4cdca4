"""Where a run makes its attempts: in worktrees of the repository, or in the project's own folder."""

from __future__ import annotations

from pathlib import Path, PurePath

from msgspec.structs import replace

from aotloop.config import Config
from aotloop.core.model import Objective
from aotloop.errors import Unavailable
from aotloop.runner.in_place import InPlace
from aotloop.runner.places import Places
from aotloop.runner.worktrees import Worktrees
from aotloop.statefile.belongings import our_files
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE, project_root
from aotloop.statefile.store import Store
from aotloop.workspace.branches import switch
from aotloop.workspace.landing import landing
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository, find_repository

_MOST_SHOWN = 8


def places_of(store: Store, objective: Objective, config: Config, run_id: str, branch: str | None) -> Places:
    root = Path(project_root(store.path))
    repository = find_repository(root) if config.isolation == "worktree" or branch is not None else None
    if repository is None and branch is not None:
        raise Unavailable(f"{root} is not in a git repository, so there are no branches")
    if repository is None or config.isolation == "none":
        return InPlace(root, protect=objective.protect)
    ours = our_files(store.path, str(root))
    with landing(repository):  # half of what a process that died had begun would look like a person's changes
        pass
    _refuse_dirty(repository, ours, allowed=config.allow_dirty)
    if branch is not None:
        switch(repository, branch)
    return Worktrees(
        repository,
        folder=worktrees_folder(config),
        setup=replace(config.worktree_setup, variables={"AOT_RUN_ID": run_id}),
        protect=(*objective.protect, f"**/{STATE_FILE}", f"**/{PHASE_FILE}"),
        never=ours,
        confines=config.confine == "auto",
    )


def remove_worktrees(store: Store, config: Config) -> None:
    """Those that nobody uses."""
    repository = find_repository(Path(project_root(store.path))) if config.isolation == "worktree" else None
    if repository is not None:
        Pool(repository, worktrees_folder(config)).close()


def worktrees_folder(config: Config) -> Path | None:
    return Path(config.worktrees) if config.worktrees is not None else None


def _refuse_dirty(repository: Repository, ours: list[str], *, allowed: bool) -> None:
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    dirty = [] if allowed else repository.dirty([f"{prefix}{one}" for one in (*ours, "aot.toml")])
    dirty = [path for path in dirty if not _is_of_a_loop(path)]
    if dirty:
        shown = ", ".join(dirty[:_MOST_SHOWN]) + (" …" if len(dirty) > _MOST_SHOWN else "")
        raise Unavailable(
            f"there are changes that are not committed: {shown}",
            hint="Agents start from the last commit and would not see them: commit them, or set them aside with"
            " `git stash -u`; --allow-dirty goes on without them, and never touches them.",
        )


def _is_of_a_loop(path: str) -> bool:
    """The state file of any loop in the repository, or what lies beside it while that is run."""
    found = PurePath(path)
    usual = (PurePath(one) for one in (STATE_FILE, PHASE_FILE))
    return any(found.parent.name == one.parent.name and one.name in found.name for one in usual)
