"""Resolves an atom: its check decides, and parents that are complete then are checked and resolved too."""

from __future__ import annotations

import msgspec

from aotloop.app.checkout_fence import fenced_checkout
from aotloop.app.loops import CHECK_TIMEOUT, Permit, refuse_while_run
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.checks.checklist import Node, check_of
from aotloop.core.commands import commands_in
from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Loop
from aotloop.errors import NotVerified
from aotloop.statefile.store import Store


class Resolution(msgspec.Struct, frozen=True):
    """Parents that are resolved now, and parents whose own check failed, with the reason."""

    auto_resolved: tuple[str, ...] = ()
    unverified: dict[str, str] = {}


def resolve_atom(
    store: Store,
    atom_id: str,
    summary: str | None = None,
    artifacts: tuple[str, ...] = (),
    *,
    permit: Permit | None = None,
) -> Resolution:
    refuse_while_run(store)
    event = events.AtomResolved(atom=atom_id, summary=summary, artifacts=artifacts, at=now())
    return resolve_parents(store, atom_id, _resolve(store, event, permit), permit)


def may_run_checks(loop: Loop, atom_id: str) -> bool:
    """Its own check, or the check of a decomposed atom whose last child this may be."""
    asked = {atom_id, *(split.parent for split in loop.decompositions)}
    return any(atom.check is not None or atom.covers for atom in loop.atoms if atom.id in asked)


def resolve_parents(store: Store, atom_id: str, effects: list[Effect], permit: Permit | None) -> Resolution:
    """What follows from the effects of an atom's resolution."""
    resolved: list[str] = []
    unverified: dict[str, str] = {}
    while effects:
        effect = effects.pop(0)
        if isinstance(effect, Resolved) and effect.atom != atom_id:
            resolved.append(effect.atom)
        elif isinstance(effect, CheckParent):
            try:
                effects += _resolve(store, events.AtomResolved(atom=effect.atom, at=now()), permit)
            except NotVerified as error:
                unverified[effect.atom] = error.message
    return Resolution(tuple(resolved), unverified)


def _resolve(store: Store, event: events.AtomResolved, permit: Permit | None) -> list[Effect]:
    rehearsal = store.load()
    before = _find(rehearsal, event.atom)
    advance(rehearsal, event)  # refuses an impossible event before any check runs
    tree = check_of(before, rehearsal.objective.base_case) if before is not None else None
    if before is not None and tree is not None and before.status != "resolved":
        _require_check(store, before, tree, permit)

    def change(loop: Loop) -> list[Effect]:
        found = _find(loop, event.atom)
        if found is not None and before is not None and check_of(found, loop.objective.base_case) != tree:
            raise NotVerified(f"the check of {event.atom} changed while it ran; resolve it again")
        return advance(loop, event)

    return store.update(change)


def _require_check(store: Store, atom: Atom, tree: Node, permit: Permit | None) -> None:
    if permit is not None:
        permit(list(commands_in(tree)))
    with fenced_checkout(store.path, store.load().objective.protect) as checkout:
        report = checkout.report(tree, timeout=CHECK_TIMEOUT)
    if not report.passed:
        reasons = "; ".join(f"{name}: {result.evidence}" for name, result in report.failing.items())
        waiting = "; ".join(f"{name} is undecided: {result.evidence}" for name, result in report.waiting.items())
        raise NotVerified(
            f"{atom.id} does not pass its check: {reasons or waiting}",
            hint="It stays in progress. Correct the work and resolve it again, or fail it.",
        )


def _find(loop: Loop, atom_id: str) -> Atom | None:
    return next((atom for atom in loop.atoms if atom.id == atom_id), None)
