"""Names of atoms and groups as a person gives them: an unknown name is refused with the nearest known name."""

from __future__ import annotations

from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError
from aotloop.text.phrases import nearest


def known_atom(loop: Loop, name: str) -> Atom:
    for atom in loop.atoms:
        if atom.id == name:
            return atom
    raise _unknown("atom", name, [atom.id for atom in loop.atoms], "`aot atom list` shows them")


def known_group(loop: Loop, name: str) -> None:
    if name not in loop.or_groups:
        raise _unknown("group", name, list(loop.or_groups), "`aot graph` shows them")


def _unknown(kind: str, name: str, known: list[str], otherwise: str) -> AotError:
    if not known:
        return AotError(f"there is no {kind} {name}", hint=f"The file has no {kind}s yet.")
    if (near := nearest(name, known)) is not None:
        return AotError(f"there is no {kind} {name}", hint=f"Did you mean {near}?")
    there = f"There are: {', '.join(known)}." if len(known) <= 10 else f"There are {len(known)}; {otherwise}."
    return AotError(f"there is no {kind} {name}", hint=there)
