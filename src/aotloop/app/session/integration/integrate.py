"""An atom's work reaches the branch, and resolves the atom; or it is refused, and nothing has happened.

Work that no longer counts is taken back from the branch: all of it, newest first, or nothing.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from aotloop.app.loops import CHECK_TIMEOUT, Permit, refuse_while_run
from aotloop.app.preflight.agreement import require_unbroken
from aotloop.app.preflight.workplace import refuse_other_history
from aotloop.app.session.attempt_token import require_token
from aotloop.app.session.integration.checkout import take_from_checkout
from aotloop.app.session.integration.integration_result import Integrated, Job, Refused
from aotloop.app.session.integration.worktree_commit import take_from_worktree
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.handlers.status import holding_session
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError, Unavailable
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed
from aotloop.git.checkout.fast_forward import landing
from aotloop.git.repository import find_repository
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store


def integrate(
    store: Store,
    atom_id: str,
    worktree: Path | None,
    *,
    summary: str,
    artifacts: tuple[str, ...],
    permit: Permit,
    session: str | None,
    token: str | None = None,
    timeout: float = CHECK_TIMEOUT,
) -> Integrated | Refused:
    """`worktree` None: the work was done in the checkout itself. `token`: as the start of the attempt printed it."""
    refuse_while_run(store)
    loop = store.load()
    _refuse_others(loop, session)
    require_unbroken(store, loop)
    atom = _atom(loop, atom_id)
    if atom.status != "resolved":
        require_token(store, loop, atom, token)
    job = Job(
        store=store,
        loop=loop,
        atom=atom,
        run_id=loop.control.run_id or _named(store),
        summary=summary,
        artifacts=artifacts,
        permit=permit,
        timeout=timeout,
    )
    root = Path(project_root(store.path))
    repository = find_repository(root)
    if repository is not None:
        with landing(repository):  # what a process that died had begun is finished first
            refuse_other_history(loop, repository)
    if worktree is None:
        return take_from_checkout(job, repository)
    if repository is None:
        raise Unavailable(f"{root} is not in a git repository, so it has no worktrees", hint="--in-place does without.")
    return take_from_worktree(job, repository, worktree)


def _refuse_others(loop: Loop, session: str | None) -> None:
    holder = holding_session(loop.control)
    if session is not None and holder not in (None, session):
        raise AotError(f"another session ({holder}) drives this loop")
    if loop.control.status != "running":
        raise AotError(f"the loop is {loop.control.status}", hint="enter_loop.py starts it, through the gate.")


def _atom(loop: Loop, atom_id: str) -> Atom:
    """Raises IllegalEvent for an atom that cannot be resolved, before anything is done."""
    advance(loop.snapshot(), events.AtomResolved(atom=atom_id, at=now()))
    return next(atom for atom in loop.atoms if atom.id == atom_id)


def _named(store: Store) -> str:
    """A loop that was not entered, but started by hand, has no name for its commits yet."""

    def change(loop: Loop) -> str:
        run_id = loop.control.run_id or uuid.uuid4().hex[:12]
        advance(loop, events.LoopStarted(run_id=run_id))
        return run_id

    return store.update(change)


def take_back(store: Store, atoms: tuple[str, ...], why: str) -> str | Refused | None:
    """The new commit of the branch; None: the branch has no work of these atoms."""
    refuse_while_run(store)
    loop = store.load()
    _refuse_what_counts(loop, atoms)
    repository = find_repository(Path(project_root(store.path)))
    if repository is None or loop.control.run_id is None:
        return None
    done = Branch(repository).take_back(atoms, loop.control.run_id, why)
    match done:
        case None:
            return None
        case Landed(commit=commit):
            return commit
        case Conflicting(paths=paths, names=later):
            reason = f"it changed since, by {', '.join(later) or 'others'}: {', '.join(paths)}"
            return Refused(why="conflict", reason=reason, paths=paths, atoms=later)
        case Blocked(reason=reason, paths=paths):
            return Refused(why="blocked", reason=reason, paths=paths)


def _refuse_what_counts(loop: Loop, atoms: tuple[str, ...]) -> None:
    """An atom that a correction removed also has no work on the branch that counts."""
    if counting := [atom.id for atom in loop.atoms if atom.id in atoms and atom.status != "pending"]:
        raise AotError(
            f"what {', '.join(counting)} contributed counts, and stays",
            hint="fail_atom, switch_or_branch or a correction resets an atom first.",
        )
