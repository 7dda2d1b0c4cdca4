"""Reads what an alignment begins from: the file of `-f`, the plan of `--from`, and a person's words."""

from __future__ import annotations

from typing import BinaryIO

import click

from aotloop.app.align.agreed_file import loop_in
from aotloop.app.align.draft import Draft
from aotloop.app.align.draft_file import LARGEST, read_draft
from aotloop.app.align.starting_point import StartingPoint, is_graph_without_atoms, start_from
from aotloop.importers.formats import read_plan
from aotloop.statefile.store import Store

IN_WORDS = (".md", ".markdown", ".txt")
"""Files with these endings hold a person's words. `-f` reads other files as an objective in YAML or JSON."""


def begin(
    store: Store, *, prompt: str | None, file: BinaryIO | None, source: BinaryIO | None, tag: str | None
) -> StartingPoint:
    """Raises StateFileBusy while a process runs the loop."""
    before = loop_in(store)
    request, draft = prompt or "", Draft()
    if file is not None and _name(file).lower().endswith(IN_WORDS):
        request = _words(file)
    elif file is not None:
        draft = read_draft(file.read(LARGEST + 1), _name(file))
    plan = read_plan(source.read(LARGEST + 1), _name(source), tag=tag) if source is not None else None
    if plan is not None and draft.atoms:
        raise click.UsageError("-f and --from both contain atoms; remove the atoms from one of them")
    if is_graph_without_atoms(draft):
        raise click.UsageError("the file has groups or decompositions, but no atoms")
    return start_from(before, draft, request=request, plan=plan, plan_name=_name(source) if source is not None else "")


def _name(file: BinaryIO) -> str:
    return str(file.name)


def _words(file: BinaryIO) -> str:
    try:
        return file.read(LARGEST).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise click.BadParameter("the file is not valid UTF-8.", param_hint="'-f'") from None
