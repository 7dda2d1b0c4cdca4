"""Corrections reach the file all at once or not at all, and a running loop can see that a person made them.

What the person agrees to (the objective, commands) is kept in the user's data folder before the file is written, under
the file's lock. So the file never says something that seems to have no agreement.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from aotloop.app.loops import apply
from aotloop.app.preflight.agreement import changed_since_agreed, require_agreement_to_correct
from aotloop.app.preflight.protected_files import remember_protected
from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.corrections import correct
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.commands import commands_of
from aotloop.core.effects import Revert
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_left
from aotloop.core.model import Correction, Loop, Objective
from aotloop.errors import AotError, StateFileBusy, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import is_trusted, trust
from aotloop.trust.objectives import agree, agreed
from aotloop.trust.person import refuse_agents

OnUnkept = Callable[[Unavailable], None]
"""Hears why a person's agreement could not be kept, where the correction is made nevertheless."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    corrections: tuple[Correction, ...] = ()
    told: tuple[str, ...] = ()
    """What they change, in words."""
    added: str | None = None
    undone: tuple[str, ...] = ()
    """Atoms whose results no longer count."""
    interrupted: tuple[str, ...] = ()
    """Atoms that were in progress."""
    attempts_left: int
    """Of the whole loop, after the corrections."""
    difference: tuple[str, ...] = ()
    """What was edited in the file without an agreement, and is accepted now."""


def redirect(
    store: Store,
    changes: Changes,
    *,
    is_more_to_come: bool = False,
    only_underway: bool = True,
    seen: int | None = None,
    on_unkept: OnUnkept = lambda _: None,
) -> Applied:
    """`is_more_to_come`: a running loop goes on waiting. `only_underway`: see `refuse_unless_underway`.

    `seen`: the number of corrections when the person decided. None: the person decided just now.
    """
    refuse_agents("only a person changes its direction")
    agreed_before: list[Objective] = []

    def change(loop: Loop) -> Applied:
        before = loop.snapshot()
        _refuse_what_was_not_seen(loop, seen)
        applied = rehearse(store, loop, changes, only_underway=only_underway)
        if is_more_to_come:
            advance(loop, events.RedirectRequested())
        _accept_commands(store, before, loop, changes.commands, on_unkept)
        if changes.takes_file or loop.objective != before.objective:
            is_about_files = changes.takes_file or loop.objective.protect != before.objective.protect
            _agree(store, loop.objective, on_unkept, is_about_files=is_about_files)
            agreed_before[:] = [before.objective]
        return applied

    try:
        return store.update(change)
    except BaseException:
        with suppress(AotError, OSError):  # a disk that is full cannot keep this either
            for objective in agreed_before:  # if the file is as it was, the agreement is as it was, too
                if store.load().objective == objective:
                    agree(store.path, objective)
        raise


def rehearse(store: Store, loop: Loop, changes: Changes, *, only_underway: bool = True) -> Applied:
    """Changes only the loop that is given, and raises what `redirect` would raise."""
    if only_underway:
        refuse_unless_underway(store, loop)
    difference = changed_since_agreed(store, loop.objective) if changes.takes_file else []
    objective, corrections, atoms = loop.objective, len(loop.corrections), {atom.id for atom in loop.atoms}
    interrupted = _in_progress(loop)
    done = correct(loop, changes, now(), agreed(store.path))
    if loop.objective != objective:  # also by --retry, which may raise a limit
        require_agreement_to_correct(store, objective)
    return Applied(
        corrections=tuple(loop.corrections[corrections:]),
        told=tuple(done.told),
        added=next((atom.id for atom in loop.atoms if atom.id not in atoms), None),
        undone=tuple(atom for effect in done.effects if isinstance(effect, Revert) for atom in effect.atoms),
        interrupted=tuple(interrupted),
        attempts_left=attempts_left(loop),
        difference=tuple(difference),
    )


def refuse_unless_underway(store: Store, loop: Loop) -> None:
    status = loop.control.status
    if status == "pending":
        raise AotError(
            "the loop has not begun, so there is no direction to change",
            hint=f"`aot align` agrees on another; or edit {_shortest(store.path)}, or use `aot atom add`.",
        )
    if status == "completed":
        raise AotError(
            "the loop is completed: its base case was verified",
            hint="Start the next objective with `aot align`; with --state-file, in another file.",
        )


def _refuse_what_was_not_seen(loop: Loop, seen: int | None) -> None:
    if seen is not None and seen != len(loop.corrections):
        raise StateFileBusy(
            f"another correction was made after you looked: {loop.corrections[-1].description}"
            if loop.corrections
            else "the loop is another one than the one you looked at",
            hint="Perhaps it is your own. Look at the loop, then decide again.",
        )


def request_redirect(store: Store, *, is_requested: bool = True) -> list[str]:
    """The loop waits for a correction, or no longer does. The atoms that this interrupts."""

    def change(loop: Loop) -> list[str]:
        interrupted = _in_progress(loop)
        advance(loop, events.RedirectRequested() if is_requested else events.RedirectExpired())
        return interrupted if is_requested else []

    return store.update(change)


@contextmanager
def everything_waits(store: Store) -> Iterator[None]:
    """For a caller that holds the lease for redirecting: at the end the loop always continues."""

    def request(loop: Loop) -> None:
        refuse_unless_underway(store, loop)
        if loop.control.redirect_requested:  # by a process that is gone: this one holds the lease
            advance(loop, events.RedirectExpired())
        advance(loop, events.RedirectRequested())

    try:
        store.update(request)
        yield
    finally:
        apply(store, events.RedirectExpired())


def _in_progress(loop: Loop) -> list[str]:
    return [atom.id for atom in loop.atoms if atom.status == "in_progress"]


def _shortest(path: str) -> str:
    """From here or from the top, whichever is less to read."""
    return min(os.path.relpath(path), path, key=len)


def _accept_commands(store: Store, before: Loop, after: Loop, typed: tuple[str, ...], on_unkept: OnUnkept) -> None:
    """Commands that the user typed need no question, if all others were accepted before; nor does leaving some out."""
    others, commands = commands_of(before), commands_of(after)
    if commands != others and is_trusted(store.path, others) and set(commands) <= {*others, *typed}:
        try:
            trust(store.path, commands)
        except Unavailable as error:
            on_unkept(error)


def _agree(store: Store, objective: Objective, on_unkept: OnUnkept, *, is_about_files: bool) -> None:
    """A home that cannot be written to costs the memory; but not if another objective is remembered there.

    `is_about_files`: of protected files. Another correction accepts none that was changed since they were remembered.
    """
    is_first = agreed(store.path) is None
    try:
        agree(store.path, objective)
        if is_about_files or is_first:
            remember_protected(store, objective)
    except Unavailable as error:
        if agreed(store.path) is not None:
            raise
        on_unkept(error)
