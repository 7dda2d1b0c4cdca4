"""What atoms contributed that no longer count is taken back from the branch: all of it, newest first, or nothing."""

from __future__ import annotations

from pathlib import Path

from aotloop.app.loops import refuse_while_run
from aotloop.app.session.integration_result import Refused
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed
from aotloop.git.repository import find_repository
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store


def take_back(store: Store, atoms: tuple[str, ...], why: str) -> str | Refused | None:
    """The commit that the branch is at then; None: nothing of them was there, or not any more."""
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
    """An atom that is gone by a correction has nothing on the branch that counts, either."""
    if counting := [atom.id for atom in loop.atoms if atom.id in atoms and atom.status != "pending"]:
        raise AotError(
            f"what {', '.join(counting)} contributed counts, and stays",
            hint="fail_atom, switch_or_branch or a correction resets an atom first.",
        )
