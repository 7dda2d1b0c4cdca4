"""Verifies the base case for a session: only accepted commands run, and judgements of the session count.

The same rules hold for resolving an atom in a session.
"""

from __future__ import annotations

from aotloop.app.loops import CHECK_TIMEOUT
from aotloop.app.preflight.agreement import require_unbroken
from aotloop.app.preflight.consent import only_accepted, require_acceptance_of_checks
from aotloop.app.resolution import Resolution, resolve_atom
from aotloop.app.verify import JudgeFor, Verification, complete_loop, verify
from aotloop.core.checks.checklist import JUDGED, base_case_tree, leaves
from aotloop.statefile.store import Store


def verify_in_session(store: Store, *, timeout: float = CHECK_TIMEOUT) -> Verification:
    require_unbroken(store, store.load())
    done = verify(store, timeout=timeout, permit=only_accepted(store), judge=_judge_of(store))
    require_unbroken(store, store.load())  # a command of the base case may have changed it
    return done


def complete_in_session(store: Store) -> None:
    """Completes the loop only if its base case holds."""
    require_unbroken(store, store.load())
    complete_loop(
        store, permit=only_accepted(store), judge=_judge_of(store), unless=lambda loop: require_unbroken(store, loop)
    )


def resolve_in_session(store: Store, atom_id: str) -> Resolution:
    """Resolves the atom only if its check passes."""
    loop = store.load()
    require_unbroken(store, loop)
    require_acceptance_of_checks(store, loop, atom_id)
    return resolve_atom(store, atom_id, permit=only_accepted(store))


def _judge_of(store: Store) -> JudgeFor | None:
    objective = store.load().objective
    if not any(leaf.check.type in JUDGED for leaf in leaves(base_case_tree(objective.base_case))):
        return None
    from aotloop.app.session.session_judge import judge_in_session  # noqa: PLC0415 - it takes longer to load than most checks run

    return judge_in_session(store, objective)
