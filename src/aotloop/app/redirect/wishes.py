"""What a person or a program wishes to change, as data: the six corrections, and to try again.

A page and an agent's client send it; a proposal keeps it. An unknown field is refused, because a wish that is not
understood is not fulfilled.
"""

from __future__ import annotations

import msgspec

from aotloop.app.atoms import NewAtom
from aotloop.app.redirect.changes import Changes, Result, checklist_of
from aotloop.app.redirect.checklist_text import read_base_case
from aotloop.app.redirect.constraint_text import limit_of
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.commands import commands_in
from aotloop.errors import AotError

_WORDS = ("goal", "background_intent", "deliverables", "definition_of_done")


class Addition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    description: str
    id: str | None = None
    after: tuple[str, ...] = ()
    group: str | None = None
    run: str | None = None


class Wishes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The six corrections, and to try again."""

    words: dict[str, str] = {}
    base_case: str = ""
    """YAML."""
    commands: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    """NAME=VALUE."""
    add: Addition | None = None
    remove: tuple[str, ...] = ()
    choose: tuple[tuple[str, str], ...] = ()
    summaries: tuple[tuple[str, str], ...] = ()
    retry: tuple[str, ...] = ()
    accept: bool = False
    reason: str = ""


def changes_in(body: Wishes) -> Changes:
    """What a person typed on a page counts as typed, as on the command line."""
    if unknown := [name for name in body.words if name not in _WORDS]:
        raise AotError(f"the objective has no {', '.join(unknown)}")
    base_case = checklist_of(body.commands) if body.commands else None
    if body.base_case.strip():
        base_case = read_base_case(body.base_case.encode("utf-8", "replace"), "the base case")
    typed = tuple(commands_in(base_case_tree(base_case))) if base_case is not None else ()
    added = body.add
    return Changes(
        words=body.words,
        base_case=base_case,
        protect=body.protect,
        unprotect=body.unprotect,
        limits=dict(map(limit_of, body.limits)),
        added=_new(added) if added is not None else None,
        removed=tuple(dict.fromkeys(body.remove)),
        chosen=body.choose,
        results=tuple(Result(atom=atom, summary=summary) for atom, summary in body.summaries),
        retried=tuple(dict.fromkeys(body.retry)),
        takes_file=body.accept,
        reason=body.reason.strip() or None,
        commands=(*typed, *([added.run] if added is not None and added.run else [])),
    )


def _new(added: Addition) -> NewAtom:
    return NewAtom(
        description=added.description.strip(),
        atom=added.id or None,
        depends_on=tuple(dict.fromkeys(added.after)),
        or_group=added.group or None,
        run=added.run or None,
    )
