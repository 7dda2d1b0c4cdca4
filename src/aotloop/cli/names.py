"""The names of a loop, atoms and groups: whether one is known, and how a shell completes it."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from aotloop import app
from aotloop.cli.foreign import prose
from aotloop.core.graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError


def known_atom(loop: Loop, name: str) -> Atom:
    for atom in loop.atoms:
        if atom.id == name:
            return atom
    raise _unknown("atom", name, [atom.id for atom in loop.atoms], "`aot atom list` shows them")


def known_group(loop: Loop, name: str) -> None:
    if name not in loop.or_groups:
        raise _unknown("group", name, list(loop.or_groups), "`aot graph` shows them")


def _unknown(kind: str, name: str, known: list[str], otherwise: str) -> AotError:
    from difflib import get_close_matches  # noqa: PLC0415 - only for who mistyped

    if not known:
        return AotError(f"there is no {kind} {name}", hint=f"The file has no {kind}s yet.")
    lower = {one.lower(): one for one in reversed(known)}
    near = get_close_matches(name.lower(), lower, n=1)
    if near:
        return AotError(f"there is no {kind} {name}", hint=f"Did you mean {lower[near[0]]}?")
    there = f"There are: {', '.join(known)}." if len(known) <= 10 else f"There are {len(known)}; {otherwise}."
    return AotError(f"there is no {kind} {name}", hint=there)


# --- completion --------------------------------------------------------------------------------------------------


def complete_atom(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    loop = _loop(ctx)
    return _items(loop.atoms, incomplete) if loop is not None else []


def complete_ready(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Only what can be started."""
    loop = _loop(ctx)
    graph = Graph(loop) if loop is not None else None
    return _items((graph.atoms[one] for one in graph.ready()), incomplete) if graph is not None else []


def complete_begun(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Only what is in progress."""
    loop = _loop(ctx)
    begun = [atom for atom in loop.atoms if atom.status == "in_progress"] if loop is not None else []
    return _items(begun, incomplete)


def complete_group(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    loop = _loop(ctx)
    names = [name for name in loop.or_groups if name.startswith(incomplete)] if loop is not None else []
    return [CompletionItem(name) for name in names if name.isprintable()]


def complete_choice(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The other choices of the group that was typed before."""
    loop = _loop(ctx)
    group = loop.or_groups.get(ctx.params.get("group") or "") if loop is not None else None
    if loop is None or group is None:
        return []
    others = [atom for atom in loop.atoms if atom.id in group.choices and atom.id != group.selected]
    return _items(others, incomplete)


def _items(atoms: Iterable[Atom], incomplete: str) -> list[CompletionItem[str]]:
    return [
        CompletionItem(atom.id, help=prose(atom.description))
        for atom in atoms
        if atom.id.startswith(incomplete) and atom.id.isprintable()
    ]


def _loop(ctx: click.Context) -> Loop | None:
    """None without one that can be read: completion has no place to complain."""
    try:
        return app.open_store(ctx.params.get("state_file")).load()
    except (AotError, OSError):
        return None
