"""A plan as it was found: pieces of work by their own labels, whatever the format; and what makes one invalid.

What is done already is left out, and nobody waits for it any more. A label that is used twice, a dependency on nothing,
and pieces that wait for each other are mistakes of the file, and refused with the place they are at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

import msgspec

from aotloop.errors import AotError
from aotloop.imports.words import short

MOST_PIECES = 5000
INVALID = 3
"""The exit code for a file that cannot be used as it is."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    """What the file calls it: US-001, 5.2, or "line 12" where it has no name."""
    place: str
    """Where it stands, for whoever has to correct it."""
    text: str
    needs: tuple[str, ...] = ()
    """Labels."""
    done: bool = False
    aside: str | None = None
    """Why it is not to be done though nobody has done it: cancelled, deferred."""
    criteria: tuple[str, ...] = ()
    """In words: how somebody would tell that it is done."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    pieces: tuple[Piece, ...]
    title: str = ""
    background: str = ""
    finished: tuple[str, ...] = ()
    """Labels of what was done already."""
    warnings: tuple[str, ...] = ()


def plan_of(
    pieces: Sequence[Piece], *, name: str, title: str = "", background: str = "", warnings: Iterable[str] = ()
) -> Plan:
    """Raises AotError, naming the place, for what cannot be a plan."""
    if len(pieces) > MOST_PIECES:
        raise invalid(name, f"{len(pieces)} pieces of work are more than {MOST_PIECES}", "Import it in parts.")
    known = _by_label(pieces, name)
    for piece in pieces:
        for need in piece.needs:
            if need not in known:
                raise invalid(
                    name,
                    f"{piece.place}: {piece.label} depends on {short(need)}, which is not there",
                    _near(need, known),
                )
    _refuse_cycle(pieces, name)
    out = {label for label, piece in known.items() if piece.done or piece.aside is not None}
    left = [piece for piece in pieces if piece.label not in out]
    if not left:
        raise invalid(name, _nothing_left(pieces), "Nothing is left to import.")
    kept = tuple(
        msgspec.structs.replace(piece, needs=tuple(one for one in dict.fromkeys(piece.needs) if one not in out))
        for piece in left
    )
    return Plan(
        pieces=kept,
        title=title,
        background=background,
        finished=tuple(piece.label for piece in pieces if piece.done),
        warnings=(*warnings, *_told_aside(pieces, known)),
    )


def invalid(name: str, what: str, hint: str | None = None) -> AotError:
    return AotError(f"{name}: {what}", hint=hint, exit_code=INVALID)


def _by_label(pieces: Sequence[Piece], name: str) -> dict[str, Piece]:
    known: dict[str, Piece] = {}
    for piece in pieces:
        before = known.setdefault(piece.label, piece)
        if before is not piece:
            raise invalid(
                name, f"{piece.place}: {piece.label} is there already, at {before.place}", "Rename one of them."
            )
    return known


def _refuse_cycle(pieces: Sequence[Piece], name: str) -> None:
    try:
        TopologicalSorter({piece.label: piece.needs for piece in pieces}).prepare()
    except CycleError as error:
        ring = [short(label) for label in reversed(error.args[1])]
        shown = [*ring[:8], "…", ring[-1]] if len(ring) > 10 else ring
        raise invalid(name, f"these wait for each other: {' → '.join(shown)}", "Take one dependency out.") from None


def _told_aside(pieces: Sequence[Piece], known: dict[str, Piece]) -> Iterable[str]:
    for piece in pieces:
        if piece.aside is not None:
            yield f"{piece.place}: {piece.label} is {piece.aside}, and left out"
    for piece in pieces:
        waits = [one for one in piece.needs if known[one].aside is not None]
        if waits and not piece.done and piece.aside is None:
            yield f"{piece.place}: {piece.label} depended on {', '.join(waits)}, which is left out"


def _nothing_left(pieces: Sequence[Piece]) -> str:
    if not pieces:
        return "there is no piece of work in it"
    return f"all {len(pieces)} pieces of work in it are done or set aside"


def _near(label: str, known: dict[str, Piece]) -> str | None:
    near = get_close_matches(label, list(known)[:1000], n=1)
    return f"Did you mean {near[0]}?" if near else "Correct it in the file, or take the dependency out."
