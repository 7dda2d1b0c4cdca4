"""Where a run makes its attempts: in worktrees of the repository, or in the project's own folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from aotloop.app.preflight.workplace import refuse, require_workplace, uncommitted
from aotloop.config.schema import Config
from aotloop.core.model import Loop
from aotloop.errors import Unavailable
from aotloop.execution.integration.protection import protection_of
from aotloop.execution.isolation.in_place import InPlace
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.exit_codes import PERSON_NEEDED
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.repository import find_repository, switch
from aotloop.git.worktrees.pool import Pool
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store


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
    if not config.allow_dirty and (work := uncommitted(repository, protection.files)) is not None:
        refuse(work)
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
