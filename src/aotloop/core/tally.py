"""What is counted on the way: attempts, successes, and what tells whether a generation made anything smaller."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, Loop


def something_got_smaller(loop: Loop) -> None:
    _note(loop, got_smaller=True)


def count_resolved(loop: Loop, atom: Atom) -> None:
    if atom.repairs is None:  # resolving repairs is never progress by itself
        _note(loop, resolved=loop.control.generation.resolved + 1)


def count_attempt(loop: Loop) -> None:
    """One that was under way has ended."""
    control = loop.control
    loop.control = replace(control, tried=control.tried + 1)
    _note(loop, outcomes=control.generation.outcomes + 1)


def count_won(loop: Loop, atom: Atom) -> None:
    """`atom` as it was before it was resolved; what repairs need says nothing about other atoms."""
    control = loop.control
    if atom.repairs is None:
        loop.control = replace(control, won=control.won + 1, needed=control.needed + atom.failures + 1)


def note_growth(loop: Loop, more: int) -> None:
    """Atoms that were added, or taken out, are no progress and no loss."""
    if loop.control.fewest_unresolved is not None:
        fewest = loop.control.fewest_unresolved + more
        loop.control = replace(loop.control, fewest_unresolved=fewest)


def count_grown(loop: Loop, parent: str) -> None:
    _note(loop, grown=(*loop.control.generation.grown, parent))


def _note(loop: Loop, **changes: Any) -> None:
    if loop.control.status == "running":  # a loop that does not run has no generations
        loop.control = replace(loop.control, generation=replace(loop.control.generation, **changes))
