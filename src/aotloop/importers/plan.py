"""The imported plan: pieces of work with their own labels, in one form for all formats; and its rules.

Finished work is left out, and no piece waits for it any more. A duplicate label, a dependency on an unknown label, and
pieces that wait for each other are mistakes of the file. They are refused with their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter

import msgspec

from aotloop.errors import AotError
from aotloop.exit_codes import NOT_READY
from aotloop.text.sanitize import plain
from aotloop.text.shorten import PHRASE, short_line

MOST_PIECES = 5000
"""The most pieces of work in one plan."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    """The name in the file: US-001, 5.2, or "line 12" if it has no name."""
    place: str
    """The place in the file, for the person who corrects it."""
    text: str
    needs: tuple[str, ...] = ()
    """Labels."""
    done: bool = False
    aside: str | None = None
    """Why the piece is left out although it is not done: cancelled, deferred."""
    criteria: tuple[str, ...] = ()
    """Criteria, in words, by which a reader can tell that it is done."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    pieces: tuple[Piece, ...]
    title: str = ""
    background: str = ""
    finished: tuple[str, ...] = ()
    """Labels of finished work."""
    warnings: tuple[str, ...] = ()


def plan_of(
    pieces: Sequence[Piece], *, name: str, title: str = "", background: str = "", warnings: Iterable[str] = ()
) -> Plan:
    """Raises AotError, with the place, for an invalid plan."""
    if len(pieces) > MOST_PIECES:
        raise invalid(name, f"{len(pieces)} pieces of work are more than {MOST_PIECES}", "Import it in parts.")
    known = _by_label(pieces, name)
    for piece in pieces:
        for need in piece.needs:
            if need not in known:
                raise invalid(
                    name,
                    f"{piece.place}: {piece.label} depends on {short_line(need, PHRASE)}, which is not there",
                    _near(need, known),
                )
    _refuse_cycle(pieces, name)
    out = {label for label, piece in known.items() if piece.done or piece.aside is not None}
    left = [piece for piece in pieces if piece.label not in out]
    if not left:
        raise invalid(name, _nothing_left(pieces), "Nothing is left to import.")
    kept = tuple(
        msgspec.structs.replace(piece, needs=tuple(label for label in dict.fromkeys(piece.needs) if label not in out))
        for piece in left
    )
    return Plan(
        pieces=kept,
        title=title,
        background=background,
        finished=tuple(piece.label for piece in pieces if piece.done),
        warnings=(*warnings, *_told_aside(pieces, known)),
    )


def invalid(name: str, message: str, hint: str | None = None) -> AotError:
    return AotError(f"{name}: {message}", hint=hint, exit_code=NOT_READY)


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
        ring = [short_line(label, PHRASE) for label in reversed(error.args[1])]
        shown = [*ring[:8], "…", ring[-1]] if len(ring) > 10 else ring
        raise invalid(
            name, f"these items wait for each other: {' → '.join(shown)}", "Take one dependency out."
        ) from None


def _told_aside(pieces: Sequence[Piece], known: dict[str, Piece]) -> Iterable[str]:
    for piece in pieces:
        if piece.aside is not None:
            yield f"{piece.place}: {piece.label} is {piece.aside}, and left out"
    for piece in pieces:
        waits = [label for label in piece.needs if known[label].aside is not None]
        if waits and not piece.done and piece.aside is None:
            yield f"{piece.place}: {piece.label} depended on {', '.join(waits)}, which is left out"


def _nothing_left(pieces: Sequence[Piece]) -> str:
    if not pieces:
        return "there is no piece of work in it"
    return f"all {len(pieces)} pieces of work in it are done or set aside"


def _near(label: str, known: dict[str, Piece]) -> str | None:
    near = get_close_matches(label, list(known)[:1000], n=1)
    return f"Did you mean {near[0]}?" if near else "Correct it in the file, or take the dependency out."


def paragraphs(*texts: str) -> str:
    return "\n\n".join(filter(None, map(plain, texts)))


def bulleted(title: str, lines: tuple[str, ...]) -> str:
    """Empty without lines."""
    return "\n".join([title, *(f"- {plain(line)}" for line in lines)]) if lines else ""
