"""Removes what runs of a loop left on the machine; the loop itself, and what it did, stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from aotloop.app.session.integration.checkout import WORKTREES
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.deletion import remove_tree
from aotloop.errors import StateFileInvalid, StateFileMissing, Unavailable
from aotloop.execution.attempts.conversation import remove_conversations
from aotloop.execution.journals.journal import FOLDER, Journal
from aotloop.fence.agent_folder import remove_left_folders
from aotloop.git.cleanup import clean
from aotloop.git.repository import Repository, find_repository
from aotloop.git.worktrees.foreign import dismiss_claimed
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import PHASE_FILE, project_root
from aotloop.statefile.store import Store


class CleanedUp(msgspec.Struct, frozen=True, kw_only=True):
    refs: tuple[str, ...] = ()
    """Of attempts that were kept."""
    worktrees: tuple[str, ...] = ()
    in_use: tuple[str, ...] = ()
    """Worktrees of another loop of this repository that runs now. The refs stay then."""
    unkept: tuple[str, ...] = ()
    """Worktrees of agents of a session that stay: their work is in no commit of the branch."""
    orphans: bool = False
    """Whether processes were still running."""
    journals: bool = False
    """Whether they were removed, too."""


def clean_up(store: Store, config: Config, *, journals: bool = False) -> CleanedUp:
    """Raises StateFileBusy while the loop runs."""
    root = Path(project_root(store.path))
    with lease(store.path, "run", since=now()), _no_feature_driven(root):
        orphans = _end_orphans(store)
        remove_left_folders()
        repository = find_repository(root)
        cleaned = CleanedUp()
        if repository is not None:
            done = clean(repository, None, config.worktrees)
            of_agents, unkept = _of_agents(store, repository, root)
            cleaned = CleanedUp(
                refs=done.refs,
                worktrees=tuple(map(str, (*done.worktrees, *of_agents))),
                in_use=tuple(map(str, done.in_use)),
                unkept=tuple(map(str, unkept)),
            )
        removed = journals and _remove_journals(root / FOLDER)
    return msgspec.structs.replace(cleaned, orphans=orphans, journals=removed)


def _of_agents(store: Store, repository: Repository, root: Path) -> tuple[list[Path], list[Path]]:
    """Worktrees that a client made for agents of this loop. While a session drives the loop, agents may be in them."""
    with suppress(StateFileInvalid, StateFileMissing):
        if store.load().control.status != "running":
            return dismiss_claimed(repository, root / WORKTREES, store.path)
    return [], []


@contextmanager
def _no_feature_driven(root: Path) -> Iterator[None]:
    """The journals are also those of the feature that is on its way here."""
    if not (root / PHASE_FILE).is_file():
        yield
        return
    with lease(str(root / PHASE_FILE), "run", since=now()):
        yield


def _end_orphans(store: Store) -> bool:
    """Whether there were any; their conversations go with them."""
    with suppress(StateFileInvalid, StateFileMissing):  # their loop is unknown
        run_id = store.load().control.run_id
        if run_id is not None:
            orphans = kill_orphans(run_id)
            remove_conversations(Journal(Path(project_root(store.path))).sittings_folder(run_id))
            return orphans
    return False


def _remove_journals(folder: Path) -> bool:
    """Whether there were any."""
    if folder.is_symlink() or not folder.is_dir():
        return False
    try:
        remove_tree(folder)
    except OSError as error:
        raise Unavailable(f"{folder} cannot be removed: {error.strerror}") from error
    return True
