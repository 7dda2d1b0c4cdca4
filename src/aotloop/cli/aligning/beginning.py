"""What an alignment begins from: the loop there is, upon it an imported plan, then a file; and a person's words."""

from __future__ import annotations

from pathlib import PurePath
from typing import BinaryIO

import click
import msgspec

from aotloop.alignment.applying import loop_in
from aotloop.alignment.draft import OF_GRAPH, Draft, draft_of, over, without_graph
from aotloop.alignment.files import LARGEST, read_draft
from aotloop.alignment.importing import covering, draft_of_plan
from aotloop.core.model import Loop
from aotloop.imports.formats import read_plan
from aotloop.imports.plan import Plan
from aotloop.statefile.store import Store

IN_WORDS = (".md", ".markdown", ".txt")
"""How a file ends that holds a person's words. Any other that is named by -f is an objective, in YAML or JSON."""


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    draft: Draft
    before: Loop | None = None
    """What is aligned again."""
    request: str = ""
    """In a person's words."""
    warnings: tuple[str, ...] = ()
    finished: int = 0
    """How many pieces of an imported plan were done already, and left out."""


def begin(
    store: Store, *, prompt: str | None, file: BinaryIO | None, source: BinaryIO | None, tag: str | None
) -> Beginning:
    """Raises StateFileBusy while somebody runs the loop."""
    before = loop_in(store)
    request, said = prompt or "", Draft()
    if file is not None and _name(file).lower().endswith(IN_WORDS):
        request = _words(file)
    elif file is not None:
        said = read_draft(file.read(LARGEST + 1), _name(file))
    plan = read_plan(source.read(LARGEST + 1), _name(source), tag=tag) if source is not None else None
    present = draft_of(before) if before is not None else Draft()
    if plan is not None and source is not None:
        imported = draft_of_plan(plan, PurePath(_name(source)).name, before)
        present = over(imported, without_graph(present))  # what was agreed on in words says more than a heading
    if plan is not None and said.atoms:
        raise click.UsageError("-f and --from both bring atoms; leave them out of one")
    if said.atoms == () and any(getattr(said, name) for name in OF_GRAPH):
        raise click.UsageError("the file has groups or decompositions, but no atoms")
    draft = over(present, said)
    return Beginning(
        draft=covering(draft, plan) if plan is not None else draft,
        before=before,
        request="\n\n".join(filter(None, (request, _background(plan)))),
        warnings=plan.warnings if plan is not None else (),
        finished=len(plan.finished) if plan is not None else 0,
    )


def _background(plan: Plan | None) -> str:
    return "\n\n".join(filter(None, (plan.title, plan.background))) if plan is not None else ""


def _name(file: BinaryIO) -> str:
    return str(file.name)


def _words(file: BinaryIO) -> str:
    try:
        return file.read(LARGEST).decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise click.BadParameter("it is not valid UTF-8.", param_hint="'-f'") from None
