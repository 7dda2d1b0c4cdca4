"""What a correction would do, before it is made: nothing is written, and a refusal is the same as later."""

from __future__ import annotations

import msgspec

from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.transaction import Applied, redirect, rehearse
from aotloop.clock import now
from aotloop.core.commands import commands_of
from aotloop.core.model import Loop
from aotloop.statefile.lease import holder_of, lease
from aotloop.statefile.store import Store


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    told: tuple[str, ...]
    """One sentence for each correction."""
    reset: tuple[str, ...]
    """Atoms that are done again."""
    reverted: tuple[str, ...]
    """Atoms whose merged work is taken back from the branch."""
    interrupted: tuple[str, ...]
    """Atoms on which an agent works now: it is ended."""
    added: str | None
    removed: tuple[str, ...]
    commands: tuple[str, ...]
    """Commands that the file did not have before."""
    difference: tuple[str, ...]
    attempts_left: int
    is_run: bool
    """A process runs the loop, and goes on with the correction."""
    corrections: int
    """So many were made before. Who applies this names the number, so that nothing is done twice."""


def preview(store: Store, changes: Changes) -> Preview:
    loop = store.load()
    before = loop.snapshot()
    applied = rehearse(store, loop, changes)
    known = set(commands_of(before))
    return Preview(
        told=applied.told,
        reset=_reset(before, loop),
        reverted=applied.undone,
        interrupted=applied.interrupted,
        added=applied.added,
        removed=_removed(before, loop),
        commands=tuple(command for command in commands_of(loop) if command not in known),
        difference=applied.difference,
        attempts_left=applied.attempts_left,
        is_run=holder_of(store.path) is not None,
        corrections=len(before.corrections),
    )


def redirect_at_once(store: Store, changes: Changes, seen: int | None = None) -> Applied:
    """For a person who saw the preview: one write, while no other person changes the direction.

    `seen`: the number of corrections in that preview. An answer may get lost, or another person may be faster: then
    the person decides again.
    """
    with lease(store.path, "redirect", since=now()):
        return redirect(store, changes, seen=seen)


def _reset(before: Loop, after: Loop) -> tuple[str, ...]:
    status = {atom.id: atom.status for atom in before.atoms}
    return tuple(
        atom.id
        for atom in after.atoms
        if atom.status == "pending" and status.get(atom.id) in ("resolved", "in_progress")
    )


def _removed(before: Loop, after: Loop) -> tuple[str, ...]:
    present = {atom.id for atom in after.atoms}
    return tuple(atom.id for atom in before.atoms if atom.id not in present)
