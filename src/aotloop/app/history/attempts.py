"""What the journal knows of the attempts of a loop: each has a name, an agent, a cost, and a fate.

The journal is evidence, and may be missing or cut: then less is known, and nothing fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from aotloop.core.model import Used
from aotloop.execution import run_events
from aotloop.execution.attempts.attempt_names import AttemptNames, events_of_run, taken_apart
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.records import CheckedPart
from aotloop.execution.run_events import RunEvent
from aotloop.remote.whereabouts import Whereabouts, all_whereabouts, whereabouts
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root

Fate = Literal["running", "merging", "landed", "undone", "not_merged", "split", "probed", "failed", "waited", "cut_off"]
"""What became of an attempt; `cut_off`: the process that made it was stopped or killed, and no result is known."""

_OF_OUTCOME: dict[str, Fate] = {
    "done": "merging",
    "proposed": "split",
    "probed": "probed",
    "must_wait": "waited",
    "unavailable": "waited",
    "cancelled": "cut_off",
}


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt on one atom."""

    name: str
    """`A2#1`: the first attempt on A2."""
    atom: str
    ordinal: int
    number: int
    """Across all atoms: it names the folder in the journal, and the ref that keeps the files."""
    role: str
    agent: str
    began: str
    ended: str | None = None
    fate: Fate = "running"
    outcome: str = ""
    """As its agent ended: done, failed, timed_out, …; empty while it runs."""
    summary: str = ""
    """What it did, or why it failed."""
    reason: str = ""
    """Why it did not land, or not yet."""
    commit: str | None = None
    """The commit on the branch; None: the attempt has none."""
    seconds: float = 0.0
    cost_usd: float | None = None
    used: Used = Used()
    checks: tuple[CheckedPart, ...] = ()
    folder: str = ""


class Attempts:
    """The attempts of one loop, in the order in which they began. It takes the events one after the other."""

    def __init__(self) -> None:
        self._names = AttemptNames()
        self._numbers: dict[str, int] = {}
        self._known: dict[int, Attempt] = {}

    def take(self, event: RunEvent) -> Attempt | None:
        """The attempt that the event is about, as it is now."""
        follow = _FOLLOWED.get(type(event))
        if isinstance(event, run_events.AttemptBegan):
            return self._begin(event)
        if isinstance(event, run_events.TakenBack):
            if event.problem is None:
                self._undo(event.atoms)
            return None
        number = self._number_of(event)
        if follow is None or number not in self._known:
            return None
        self._known[number] = follow(self._known[number], event)
        return self._known[number]

    def cut_off(self) -> None:
        """No process runs the loop any more."""
        for number, attempt in self._known.items():
            if attempt.fate in ("running", "merging"):
                self._known[number] = replace(attempt, fate="cut_off")

    @property
    def all(self) -> list[Attempt]:
        return list(self._known.values())

    def _begin(self, event: run_events.AttemptBegan) -> Attempt:
        name = self._names.named(event)
        if (number := self._numbers.get(name)) is not None:  # its result is only checked again
            self._known[number] = replace(self._known[number], fate="running")
            return self._known[number]
        begun = Attempt(
            name=name,
            atom=event.atom,
            ordinal=taken_apart(name)[1] or 0,
            number=event.attempt,
            role=event.role,
            agent=event.agent,
            began=event.at,
            folder=event.folder,
        )
        self._numbers[name] = event.attempt
        self._known[event.attempt] = begun
        return begun

    def _number_of(self, event: Any) -> int | None:
        """A later run merges a result under another number, but under the same name."""
        name, number = getattr(event, "name", ""), getattr(event, "attempt", None)
        return self._numbers.get(name, number) if isinstance(name, str) else number

    def _undo(self, atoms: Iterable[str]) -> None:
        undone = set(atoms)
        for number, attempt in self._known.items():
            if attempt.atom in undone and attempt.fate == "landed":
                self._known[number] = replace(attempt, fate="undone")


def _ended(attempt: Attempt, event: run_events.AttemptEnded) -> Attempt:
    fate = _OF_OUTCOME.get(event.outcome, "failed")
    return replace(
        attempt,
        ended=event.at,
        fate=fate,
        outcome=event.outcome,
        summary=event.summary,
        reason=event.summary if fate in ("failed", "waited") else "",
        seconds=event.seconds,
        cost_usd=event.cost_usd,
        used=event.used,
        checks=event.checks,
    )


def _merged(attempt: Attempt, event: run_events.Merged) -> Attempt:
    return replace(attempt, fate="landed", commit=event.commit, reason="")


def _not_merged(attempt: Attempt, event: run_events.NotMerged) -> Attempt:
    return replace(attempt, fate="merging" if event.why == "blocked" else "not_merged", reason=event.reason)


_FOLLOWED: dict[type[RunEvent], Callable[[Attempt, Any], Attempt]] = {
    run_events.AttemptEnded: _ended,
    run_events.Merged: _merged,
    run_events.NotMerged: _not_merged,
}


def attempts_of(state_file: str, run_id: str | None) -> list[Attempt]:
    """All attempts of the loop with this id, in the order in which they began."""
    attempts = Attempts()
    for event in events_of_run(EventsFile(state_file), run_id):
        if isinstance(event, run_events.RunBegan | run_events.RunEnded):
            attempts.cut_off()
        attempts.take(event)
    if holder_of(state_file) is None:
        attempts.cut_off()
    return attempts.all


def on_atom(attempts: Iterable[Attempt], atom: str) -> list[Attempt]:
    return [attempt for attempt in attempts if attempt.atom == atom]


def folder_of(state_file: str, attempt: Attempt) -> Path | None:
    """Its journal; None: it was removed."""
    return EventsFile(state_file).folder_of(attempt.folder)


def place_in_words(folder: Path | None) -> str:
    """Where an attempt is made, and what it cost so far; empty: on this machine. `folder`: of its journal."""
    found = whereabouts(folder) if folder is not None else None
    return found.words if found is not None else ""


def remote_attempts(state_file: str) -> dict[str, Whereabouts]:
    """Attempts that other machines make now, by the names of their folders."""
    return all_whereabouts(Journal(Path(project_root(state_file))).folder / "attempts")
