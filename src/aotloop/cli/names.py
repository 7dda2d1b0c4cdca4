"""Completes the names of a loop: atoms by status, groups, and a group's choices. Without a loop, nothing."""

from __future__ import annotations

import click

from aotloop import app
from aotloop.core.model import Loop
from aotloop.errors import AotError


def complete_atom(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    loop = _loop(ctx)
    return [atom.id for atom in loop.atoms if atom.id.startswith(incomplete)] if loop is not None else []


def complete_group(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    loop = _loop(ctx)
    return [name for name in loop.or_groups if name.startswith(incomplete)] if loop is not None else []


def complete_choice(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    loop = _loop(ctx)
    group = loop.or_groups.get(ctx.params.get("group", "")) if loop is not None else None
    return [choice for choice in group.choices if choice.startswith(incomplete)] if group is not None else []


def _loop(ctx: click.Context) -> Loop | None:
    try:
        return app.open_store(ctx.params.get("state_file")).load()
    except AotError:
        return None
