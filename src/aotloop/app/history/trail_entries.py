"""Entries of a history, and those that the trail of the state file gives. Each is told once.

Where the journal has the same event, it says when the entry comes; else its time does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.app.history.attempts import Attempt
from aotloop.core.model import Correction, Loop, TrailEntry
from aotloop.execution.attempts.attempt_names import attempt_name
from aotloop.statefile.yaml.emitter import to_data


class HistoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    """selection, failure, user_correction, correction, resolved, run_began, run_ended, verified, …"""
    at: str
    text: str
    """May have several lines, and any characters."""
    atoms: tuple[str, ...] = ()
    """The atoms it is about."""
    attempt: str | None = None
    """The name of the attempt, such as `A2#1`."""
    data: dict[str, Any] = {}
    """What is known besides, as in the file."""

    def as_data(self) -> dict[str, Any]:
        name = {"attempt_name": self.attempt} if self.attempt is not None else {}
        return {"kind": self.kind, "timestamp": self.at, **name, "text": self.text, **self.data}


class TrailEntries:
    def __init__(self, loop: Loop) -> None:
        self._entries = list(loop.trail)
        self._failures: Counter[str] = Counter()
        self._corrections: dict[int, Correction] = {}
        """Key: `id` of the trail entry that tells of the correction."""

    def failure_of(self, attempt: Attempt, at: str) -> HistoryEntry | None:
        """The failure of this attempt, if the trail still has it."""
        for entry in self._entries:
            if entry.type == "failure" and entry.atom == attempt.atom and str(entry.timestamp) <= at:
                self._entries.remove(entry)
                self._failures[attempt.atom] = attempt.ordinal
                return _of_trail(entry, attempt.name)
        return None

    def selection_of(self, or_group: str, selected: str) -> HistoryEntry | None:
        for entry in self._entries:
            if entry.type == "selection" and (entry.or_group, entry.selected) == (or_group, selected):
                self._entries.remove(entry)
                return _of_trail(entry)
        return None

    def tells_correction(self, correction: Correction) -> bool:
        """Whether the trail has an entry for it, which then tells of both."""
        key = (str(correction.timestamp), correction.description)
        for entry in self._entries:
            is_it = entry.type == "user_correction" and (str(entry.timestamp), entry.reason) == key
            if is_it and id(entry) not in self._corrections:
                self._corrections[id(entry)] = correction
                return True
        return False

    def rest(self) -> Iterator[HistoryEntry]:
        """What the journal does not know: a session makes attempts without a journal."""
        for entry in self._entries:
            name = None
            if entry.type == "failure" and entry.atom is not None:
                self._failures[entry.atom] += 1
                name = attempt_name(entry.atom, self._failures[entry.atom])
            line = _of_trail(entry, name)
            correction = self._corrections.get(id(entry))
            yield replace(line, data={**line.data, "correction": to_data(correction)}) if correction else line


def _of_trail(entry: TrailEntry, attempt: str | None = None) -> HistoryEntry:
    atoms = tuple(name for name in (entry.atom, entry.selected) if name is not None)
    about = f"{entry.or_group} → {entry.selected}" if entry.selected is not None else attempt or entry.atom or ""
    text = f"{about}: {entry.reason}"
    return HistoryEntry(
        kind=entry.type, at=str(entry.timestamp), text=text, atoms=atoms, attempt=attempt, data=to_data(entry)
    )
