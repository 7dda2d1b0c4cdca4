"""The names of a loop's atoms and groups: it checks them, and completes them in a shell."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from aotloop.app.history.attempts import attempts_of
from aotloop.app.loops import open_store
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.errors import AotError
from aotloop.text.sanitize import prose


def complete_atom(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    loop = _loop(ctx)
    return _items(loop.atoms, incomplete) if loop is not None else []


def complete_ready(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Only atoms that can start."""
    loop = _loop(ctx)
    graph = Graph(loop) if loop is not None else None
    return _items((graph.atoms[atom_id] for atom_id in graph.ready()), incomplete) if graph is not None else []


def complete_attempt(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Atoms, and attempts on them."""
    loop, state_file = _loop(ctx), ctx.params.get("state_file")
    if loop is None or "#" not in incomplete:
        return complete_atom(ctx, parameter, incomplete)
    names = [attempt.name for attempt in attempts_of(open_store(state_file).path, loop.control.run_id)]
    return [CompletionItem(name) for name in names if name.startswith(incomplete) and name.isprintable()]


def complete_begun(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Only atoms in progress."""
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
    """None without a readable file: completion cannot show errors."""
    try:
        return open_store(ctx.params.get("state_file")).load()
    except (AotError, OSError):
        return None
