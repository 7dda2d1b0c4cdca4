"""Where a run makes its attempts: in worktrees of the repository, or in the project's own folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from msgspec.structs import replace

from aotloop.app.preflight.workplace import FIRST_COMMIT, require_workplace
from aotloop.config.schema import Config
from aotloop.core.model import Loop
from aotloop.errors import Unavailable
from aotloop.execution.integration.protection import protection_of
from aotloop.execution.isolation.in_place import InPlace
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.exit_codes import NOT_READY, PERSON_NEEDED
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.repository import Repository, find_repository, switch
from aotloop.git.worktrees.pool import Pool
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE, project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed


def places_of(
    store: Store, protect: Sequence[str], config: Config, run_id: str, branch: str | None, *, detached: bool = False
) -> Isolation:
    """`protect`: globs of what no attempt may change. `detached`: commits may belong to no branch."""
    root = Path(project_root(store.path))
    if config.isolation == "none" and branch is None:
        return InPlace(root, protect=tuple(protect), state_file=Path(store.path), fence=config.fence)
    repository = find_repository(root)
    require_workplace(root, repository, is_settled=branch is not None or detached)
    if repository is None or config.isolation == "none":
        return InPlace(root, protect=tuple(protect), state_file=Path(store.path), fence=config.fence)
    protection = protection_of(protect, store.path, str(root))
    with landing(repository):  # half of what a process that died had begun would look like a person's changes
        pass
    _refuse_dirty(repository, protection.files, allowed=config.allow_dirty)
    if branch is not None:
        switch(repository, branch)
    return Worktrees(
        repository,
        folder=config.worktrees,
        setup=replace(config.worktree_setup, variables={**config.passed_variables, "AOT_RUN_ID": run_id}),
        protection=protection,
        fence=config.fence,
    )


def remove_worktrees(store: Store, config: Config) -> None:
    """Removes the worktrees that no attempt uses."""
    repository = find_repository(Path(project_root(store.path))) if config.isolation != "none" else None
    if repository is not None:
        Pool(repository, config.worktrees).close()


def refuse_other_history(loop: Loop, places: Isolation) -> None:
    """The branch has to contain what the loop did before."""
    last, branch = loop.control.last_sha, places.branch
    if last is not None and branch is not None and loop.control.status != "pending" and not branch.contains(last):
        raise Unavailable(
            f"what is checked out ({branch.name or 'no branch'}) does not contain what was done so far ({last[:12]})",
            hint="Check out the branch of the loop. If it no longer exists, remove `control.last_sha`.",
            exit_code=PERSON_NEEDED,
        )


def _refuse_dirty(repository: Repository, ours: Sequence[str], *, allowed: bool) -> None:
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    dirty = [] if allowed else repository.dirty([f"{prefix}{name}" for name in (*ours, "aot.toml")])
    dirty = [path for path in dirty if not _is_of_a_loop(path)]
    if dirty:
        shown = listed(dirty)
        if repository.head().commit is None:
            raise Unavailable(
                f"nothing is committed yet, and agents start from a commit: {shown}",
                hint=f"Make one: `{FIRST_COMMIT}`.",
                exit_code=NOT_READY,
            )
        raise Unavailable(
            f"there are changes that are not committed: {shown}",
            hint="Agents start from the last commit and do not see them. Commit them, or put them away with"
            " `git stash -u`; --allow-dirty runs without them and leaves them alone.",
        )


def _is_of_a_loop(path: str) -> bool:
    """The state file of any loop in the repository, or a file beside it that a run needs."""
    found = PurePath(path)
    usual = (PurePath(file) for file in (STATE_FILE, PHASE_FILE))
    return any(found.parent.name == path.parent.name and path.name in found.name for path in usual)
