"""What a person wants to be otherwise, however it was said; nothing here knows the loop."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.core.events import AtomAdded
from aotloop.core.model import BaseCase, Check, ChecklistItem


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    words: dict[str, str] = {}
    """Of the objective: goal, background_intent, deliverables, definition_of_done."""
    base_case: BaseCase | None = None
    protect: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    limits: dict[str, Any] = {}
    """Constraints, with the values they are to have."""
    added: AtomAdded | None = None
    removed: tuple[str, ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    """Group, atom."""
    summaries: tuple[tuple[str, str], ...] = ()
    """Atom, text."""
    retried: tuple[str, ...] = ()
    takes_file: bool = False
    """The objective as it is in the file now, whoever wrote it there."""
    reason: str | None = None
    commands: tuple[str, ...] = ()
    """Those among them that the person typed, or was shown and accepted."""

    @property
    def is_about_alignment(self) -> bool:
        return bool(self.words or self.base_case is not None or self.protect or self.unprotect)

    @property
    def is_about_objective(self) -> bool:
        return self.is_about_alignment or bool(self.limits)


def checklist_of(commands: tuple[str, ...]) -> BaseCase:
    items = [ChecklistItem(item=f"`{one}` succeeds", check=Check(type="command", value=one)) for one in commands]
    return BaseCase(checklist=tuple(items))
