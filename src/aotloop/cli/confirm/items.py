"""Finds the items of a base case that a person can decide, and finds an item by the name a person types."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from aotloop.app.confirm import judged_items
from aotloop.app.loops import open_store
from aotloop.checks.evaluation import leaves_by_path
from aotloop.core.checks.item_paths import SEPARATOR
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.text.phrases import listed, nearest
from aotloop.text.sanitize import prose

MOST_LISTED = 10


def path_named(loop: Loop, name: str) -> str:
    """The path of the item with this whole path, or with this last name if only one item has it."""
    items = judged_items(loop)
    for path in items:
        if name in (path, prose(path)):
            return path
    ending = [path for path in items if path.rpartition(SEPARATOR)[2] == name or items[path].name == name]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise AotError(f"{name} could be any of {len(ending)} items", hint=f"Name it in full: {_listed(ending)}.")
    raise _unknown(loop, name, list(items))


def _unknown(loop: Loop, name: str, known: list[str]) -> AotError:
    others = {path: leaf for path, leaf in leaves_by_path(loop.objective.base_case).items() if path not in known}
    for path, leaf in others.items():
        if name in (path, leaf.name):
            return AotError(f"{name} is checked by a program ({leaf.check.type})", hint="`aot verify` runs it.")
    if not known:
        return AotError("no item of the base case waits for a person", hint="`aot verify` checks all items.")
    near = nearest(name, known)
    hint = f"Did you mean {near!r}?" if near else f"There are: {_listed(known)}."
    return AotError(f"there is no item {name} that a person can decide", hint=hint)


def _listed(paths: Iterable[str]) -> str:
    return listed([repr(path) for path in paths], MOST_LISTED)


def complete_item(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    try:
        items = judged_items(open_store(ctx.params.get("state_file")).load())
    except (AotError, OSError):  # completion has no place to complain
        return []
    return [CompletionItem(path) for path in items if path.startswith(incomplete) and path.isprintable()]
