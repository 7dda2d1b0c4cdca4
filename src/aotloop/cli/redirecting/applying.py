"""Corrections reach the file all at once or not at all, and whoever runs the loop can see that a person made them.

What a person agrees to (the objective, commands) is kept in the user's data folder before the file is written, under
the file's lock: so there is no moment in which the file says something that nobody seems to have agreed to.
"""

from __future__ import annotations

from contextlib import suppress

import click
import msgspec

from aotloop import app
from aotloop.cli.consent import accept
from aotloop.cli.foreign import visible
from aotloop.cli.output import shortest
from aotloop.cli.redirecting.corrections import correct
from aotloop.cli.redirecting.wishes import Wishes
from aotloop.core import events
from aotloop.core.commands import commands_of
from aotloop.core.effects import Revert
from aotloop.core.machine import advance
from aotloop.core.model import Correction, Loop, Objective
from aotloop.errors import AotError, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust import is_trusted
from aotloop.trust.objectives import agree, agreed, difference


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    corrections: tuple[Correction, ...] = ()
    told: tuple[str, ...] = ()
    """What they change, in words."""
    added: str | None = None
    undone: tuple[str, ...] = ()
    """Atoms whose results no longer count."""
    difference: tuple[str, ...] = ()
    """Of the objective: what had been changed in the file without anybody's agreement, and is accepted now."""


def apply(store: Store, wishes: Wishes, *, is_more_to_come: bool = False) -> Applied:
    """`is_more_to_come`: whoever runs the loop goes on waiting."""
    agreed_before: list[Objective] = []

    def change(loop: Loop) -> Applied:
        before = loop.snapshot()
        applied = rehearse(store, loop, wishes)
        if is_more_to_come:
            advance(loop, events.RedirectRequested())
        _accept_commands(store, before, loop, wishes.commands)
        if wishes.takes_file or loop.objective != before.objective:
            _agree(store, loop.objective)
            agreed_before[:] = [before.objective]
        return applied

    try:
        return store.update(change)
    except BaseException:
        with suppress(AotError, OSError):  # a disk that is full cannot be told this either
            for objective in agreed_before:  # if the file is as it was, what was agreed on is, too
                if store.load().objective == objective:
                    agree(store.path, objective)
        raise


def rehearse(store: Store, loop: Loop, wishes: Wishes) -> Applied:
    """Changes only the loop that is given."""
    refuse_unless_underway(store, loop)
    known = agreed(store.path)
    changed = difference(known, loop.objective) if known is not None else []
    if changed and wishes.is_about_objective:
        raise AotError(
            f"the objective was changed in the file without anybody's agreement: {'; '.join(changed)}",
            hint="`aot redirect --accept` takes it as it is now; else change it back.",
        )
    corrections, atoms = len(loop.corrections), {atom.id for atom in loop.atoms}
    done = correct(loop, wishes, app.now(), known)
    return Applied(
        corrections=tuple(loop.corrections[corrections:]),
        told=tuple(done.told),
        added=next((atom.id for atom in loop.atoms if atom.id not in atoms), None),
        undone=tuple(atom for effect in done.effects if isinstance(effect, Revert) for atom in effect.atoms),
        difference=tuple(changed) if wishes.takes_file else (),
    )


def refuse_unless_underway(store: Store, loop: Loop) -> None:
    status = loop.control.status
    if status == "pending":
        raise AotError(
            "the loop has not begun, so it has no direction to change yet",
            hint=f"`aot align` agrees on another; or edit {visible(shortest(store.path))}, or use `aot atom add`.",
        )
    if status == "completed":
        raise AotError(
            "the loop is completed: its base case was verified",
            hint="`aot align` agrees on what comes next; with --state-file, beside it.",
        )


def _accept_commands(store: Store, before: Loop, now: Loop, typed: tuple[str, ...]) -> None:
    """What the user typed needs no question, if all others were accepted before; nor does it to leave some out."""
    others, commands = commands_of(before), commands_of(now)
    if commands != others and is_trusted(store.path, others) and set(commands) <= {*others, *typed}:
        accept(store, commands)


def _agree(store: Store, objective: Objective) -> None:
    """A home that cannot be written to costs the memory; but not if something else is remembered there."""
    try:
        agree(store.path, objective)
    except Unavailable as error:
        if agreed(store.path) is not None:
            raise
        click.echo(f"aot: {visible(error.message)}\n     {error.hint}", err=True)
