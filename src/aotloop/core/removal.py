"""Taking out atoms that the machine itself had put in: repairs that no longer apply, parts that led nowhere."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board


def take_out(board: Board, gone: set[str], *, instead: dict[str, str] | None = None) -> None:
    """Out of every list that names them. What depended on one of them depends on what is named `instead`, if any."""
    if not gone:
        return
    loop, stand_ins = board.loop, instead or {}
    loop.atoms[:] = [
        replace(atom, depends_on=_without(atom.depends_on, gone, stand_ins)) if gone & set(atom.depends_on) else atom
        for atom in loop.atoms
        if atom.id not in gone
    ]
    loop.decompositions[:] = [
        replace(split, children=_without(split.children, gone, {})) if gone & set(split.children) else split
        for split in loop.decompositions
        if split.parent not in gone and not gone >= set(split.children)
    ]
    for name, group in list(loop.or_groups.items()):
        if gone >= set(group.choices):
            del loop.or_groups[name]
        elif any(gone.intersection(speakers) for speakers in group.hints.values()):
            hints = {one: tuple(who for who in speakers if who not in gone) for one, speakers in group.hints.items()}
            loop.or_groups[name] = replace(group, hints={one: speakers for one, speakers in hints.items() if speakers})
    for atom_id in gone:
        loop.bindings.pop(atom_id, None)
    board.rebuild()


def _without(names: tuple[str, ...], gone: set[str], instead: dict[str, str]) -> tuple[str, ...]:
    kept = [instead.get(name, name) if name in gone else name for name in names if name not in gone or name in instead]
    return tuple(dict.fromkeys(kept))
