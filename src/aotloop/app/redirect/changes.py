"""What a person wants to change, in one value. Nothing here knows the loop."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.app.atoms import NewAtom
from aotloop.core.model import BaseCase, Check, ChecklistItem


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A new description of an atom's result. `artifacts` None: unchanged."""

    atom: str
    summary: str
    artifacts: tuple[str, ...] | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    words: dict[str, str] = {}
    """Texts of the objective: goal, background_intent, deliverables, definition_of_done."""
    base_case: BaseCase | None = None
    protect: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    limits: dict[str, Any] = {}
    """Constraints, with the values they are to have."""
    added: NewAtom | None = None
    removed: tuple[str, ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    """Group, atom."""
    results: tuple[Result, ...] = ()
    retried: tuple[str, ...] = ()
    takes_file: bool = False
    """Takes the objective as it is in the file now, even if it was edited there."""
    reason: str | None = None
    commands: tuple[str, ...] = ()
    """Commands that the person typed here, or saw and accepted."""

    @property
    def is_about_alignment(self) -> bool:
        return bool(self.words or self.base_case is not None or self.protect or self.unprotect)


def checklist_of(commands: tuple[str, ...]) -> BaseCase:
    items = [
        ChecklistItem(item=f"`{command}` succeeds", check=Check(type="command", value=command)) for command in commands
    ]
    return BaseCase(checklist=tuple(items))
