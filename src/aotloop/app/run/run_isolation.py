"""The isolation of a run: its attempts are made in worktrees of the repository, or in the project's own folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from aotloop.app.preflight.workplace import refuse, require_workplace, uncommitted
from aotloop.config.schema import Config
from aotloop.execution.integration.protection import protection_of
from aotloop.execution.isolation.in_place import InPlace
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.repository import find_repository, switch
from aotloop.git.worktrees.pool import Pool
from aotloop.process.cancellation import undisturbed
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

Taken = TypeVar("Taken", bound=Isolation)


@contextmanager
def ended_with_run(run_id: str, isolation: Taken) -> Iterator[Taken]:
    """At the end no process of the run is left, such as one that set-up started, and no place is taken."""
    try:
        yield isolation
    finally:
        with undisturbed():
            kill_orphans(run_id)
            isolation.close()


def isolation_of(
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
        setup=replace(config.worktree_setup, variables=config.variables(run_id)),
        protection=protection,
        fence=config.fence,
    )


def remove_worktrees(store: Store, config: Config) -> None:
    """Removes the worktrees that no attempt uses."""
    repository = find_repository(Path(project_root(store.path))) if config.isolation != "none" else None
    if repository is not None:
        Pool(repository, config.worktrees).close()
