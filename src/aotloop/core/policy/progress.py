"""Progress counters: attempts, successes, and whether a generation made anything smaller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, Loop, Used


def something_got_smaller(loop: Loop) -> None:
    _note(loop, got_smaller=True)


def count_resolved(loop: Loop, atom: Atom) -> None:
    if atom.repairs is None:  # a resolved repair alone is no progress
        _note(loop, resolved=loop.control.generation.resolved + 1)


def count_attempt(loop: Loop) -> None:
    """A running attempt has ended."""
    control = loop.control
    loop.control = replace(control, tried=control.tried + 1)
    _note(loop, outcomes=control.generation.outcomes + 1)


def count_won(loop: Loop, atom: Atom) -> None:
    """`atom` is the state before it was resolved. Repairs say nothing about the attempts that other atoms need."""
    control = loop.control
    if atom.repairs is None:
        loop.control = replace(control, won=control.won + 1, needed=control.needed + atom.failures + 1)


def note_growth(loop: Loop, more: int) -> None:
    """Added or removed atoms count neither as progress nor as loss."""
    if loop.control.fewest_unresolved is not None:
        fewest = loop.control.fewest_unresolved + more
        loop.control = replace(loop.control, fewest_unresolved=fewest)


def count_grown(loop: Loop, parent: str) -> None:
    _note(loop, grown=(*loop.control.generation.grown, parent))


def _note(loop: Loop, **changes: Any) -> None:
    if loop.control.status == "running":  # only a running loop has generations
        loop.control = replace(loop.control, generation=replace(loop.control.generation, **changes))


def together(parts: Iterable[Used]) -> Used:
    parts = tuple(parts)
    return Used(**{kind: sum(getattr(part, kind) for part in parts) for kind in Used.__struct_fields__})


def tokens_of(used: Used) -> int:
    return used.input + used.output + used.cache_read + used.cache_write
