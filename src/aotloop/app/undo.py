"""Takes back what a loop merged, all of it or the work of one atom, by new commits that revert it.

The history stays: nothing is rewritten, and a revert can be reverted. The branch is changed first; if that is not
possible, nothing is changed. A process that is killed in between is finished by the same command.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.app.loops import known_atom
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.outcome import Blocked, Conflicting
from aotloop.execution.journals.journal import Journal
from aotloop.execution.run_events import TakenBack
from aotloop.git.repository import find_repository
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    atoms: tuple[str, ...]
    """Atoms whose work was on the branch, and is reverted."""
    commits: tuple[str, ...] = ()
    """The commits that revert it are between these two: the branch before, and the branch now."""
    reopened: tuple[str, ...] = ()
    """Atoms that were resolved, and are open again."""


def undo(store: Store, atom: str | None = None, *, only_show: bool = False) -> Undone:
    """`atom`: only its work, and the work that was built on it; None: all that the loop merged.

    `only_show` changes nothing. Raises AotError if it cannot be reverted, and StateFileBusy while a process runs the
    loop.
    """
    with lease(store.path, "run", since=now()):
        loop = store.load()
        run_id = _run_id(loop)
        repository = find_repository(Path(project_root(store.path)))
        if repository is None:
            raise AotError("there is no git repository, so nothing was merged by commits", hint=_BY_HAND)
        branch = Branch(repository)
        standing = branch.atoms_on_it(run_id)
        wanted = _wanted(loop, atom, standing)
        names = tuple(name for name in standing if name in wanted)
        resolved = {other.id for other in loop.atoms if other.status == "resolved"}
        if not names and not (resolved & wanted):
            raise AotError(_nothing(atom), hint="`aot log` tells what was merged.")
        if only_show:
            return Undone(atoms=names, reopened=tuple(sorted(resolved & wanted)))
        commits = _revert(branch, names, run_id, atom)
        reopened = store.update(lambda found: _reopen(found, tuple(sorted(wanted)), atom))
        _note(store, names)
        return Undone(atoms=names, commits=commits, reopened=reopened)


_BY_HAND = "Without git, files have to be restored by hand."


def _run_id(loop: Loop) -> str:
    if loop.control.run_id is None or loop.control.status == "pending":
        raise AotError("the loop has not run yet, so there is nothing to undo", hint="`aot run` runs it.")
    return loop.control.run_id


def _wanted(loop: Loop, atom: str | None, standing: list[str]) -> set[str]:
    if atom is None:
        return {*standing, *(other.id for other in loop.atoms)}
    if atom not in standing:
        known_atom(loop, atom)  # a removed atom may still have work on the branch
    graph = Graph(loop)
    return {atom, *graph.downstream([atom])} if atom in graph.atoms else {atom}


def _nothing(atom: str | None) -> str:
    return f"nothing of {atom} is on the branch" if atom is not None else "nothing of this loop is on the branch"


def _revert(branch: Branch, names: tuple[str, ...], run_id: str, atom: str | None) -> tuple[str, ...]:
    if not names:
        return ()
    before = branch.head()
    why = f"A person took back {'all that the run merged' if atom is None else atom} (aot undo)."
    match branch.take_back(names, run_id, why):
        case Conflicting(paths=paths, names=others):
            by = f" by {', '.join(others)}" if others else ""
            raise AotError(
                f"it cannot be reverted: {listed(paths)} changed since{by}",
                hint="Nothing was changed. Undo the later work first, or revert by hand with `git revert`.",
            )
        case Blocked(reason=reason):
            raise AotError(f"it cannot be reverted now: {reason}", hint="Nothing was changed.")
    return tuple(commit for commit in (before, branch.head()) if commit is not None)


def _reopen(loop: Loop, wanted: tuple[str, ...], atom: str | None) -> tuple[str, ...]:
    before = [other.id for other in loop.atoms if other.status == "resolved"]
    description = "all merged work was undone" if atom is None else f"the work of {atom} was undone"
    advance(loop, events.WorkUndone(atoms=wanted, description=description, at=now()))
    after = {other.id for other in loop.atoms if other.status == "resolved"}
    return tuple(name for name in before if name not in after)


def _note(store: Store, names: tuple[str, ...]) -> None:
    journal = Journal(Path(project_root(store.path)))
    journal.open()
    try:
        journal.note(TakenBack(at=now(), atoms=names))
    finally:
        journal.close()
