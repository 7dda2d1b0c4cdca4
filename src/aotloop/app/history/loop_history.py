"""The history of a loop, one entry for each thing that happened, successes too, oldest first.

Selections, failures and corrections are in the state file. What else happened is in the journal, which may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from aotloop.app.history.attempts import Attempt, Attempts
from aotloop.app.history.trail_entries import HistoryEntry, TrailEntries
from aotloop.core.model import Correction, Loop
from aotloop.execution import run_events as kinds
from aotloop.execution.attempts.attempt_names import events_of_run
from aotloop.execution.journals.event_file import EventsFile
from aotloop.statefile.yaml.emitter import to_data
from aotloop.text.phrases import corrected, counted, dollars, lasting, listed


def history_of(state_file: str, loop: Loop, atom: str | None = None) -> list[HistoryEntry]:
    """`atom`: only entries about this atom. Times have whole seconds; within a second, the journal gives the order."""
    trail = TrailEntries(loop)
    journalled = list(_from_journal(state_file, loop, trail))
    corrections = [
        _of_correction(correction) for correction in loop.corrections if not trail.tells_correction(correction)
    ]
    entries = [*trail.rest(), *corrections, *journalled]
    if atom is not None:
        entries = [entry for entry in entries if atom in entry.atoms]
    return sorted(entries, key=lambda entry: entry.at)


# --- the state file ----------------------------------------------------------------------------------------------


def _of_correction(correction: Correction) -> HistoryEntry:
    cleared = " (trail cleared)" if correction.trail_cleared else ""
    text = f"{corrected(correction.type, correction.description)}{cleared}"
    return HistoryEntry(kind="correction", at=str(correction.timestamp), text=text, data=to_data(correction))


# --- the journal -------------------------------------------------------------------------------------------------


def _from_journal(state_file: str, loop: Loop, trail: TrailEntries) -> Iterator[HistoryEntry]:
    attempts = Attempts()
    for event in events_of_run(EventsFile(state_file), loop.control.run_id):
        attempt = attempts.take(event)
        match event:
            case kinds.AttemptEnded() if attempt is not None:
                yield from _ended_attempt(event, attempt, trail)
            case kinds.NotMerged(why="refused") if attempt is not None:
                yield trail.failure_of(attempt, event.at) or _failed(event.at, attempt)
            case kinds.Merged() if attempt is not None:
                yield _resolved(event, attempt)
            case kinds.SwitchedTo() if (switched := trail.selection_of(event.or_group, event.selected)) is not None:
                yield switched
            case kinds.AtomResolved():
                data = {"atom": event.atom, "summary": event.summary}
                text = f"{event.atom}: {event.summary}"
                yield HistoryEntry(kind="resolved", at=event.at, text=text, atoms=(event.atom,), data=data)
            case _:
                yield from _others(event)


def _others(event: kinds.RunEvent) -> Iterator[HistoryEntry]:
    if (writer := _TOLD.get(type(event))) is not None:
        data = {name: value for name, value in msgspec.to_builtins(event).items() if name not in ("kind", "at")}
        kind, name = str(event.__struct_config__.tag), getattr(event, "name", None) or None
        yield HistoryEntry(kind=kind, at=event.at, text=writer(event), atoms=_atoms_of(event), attempt=name, data=data)


def _resolved(event: kinds.Merged, attempt: Attempt) -> HistoryEntry:
    facts = [f"merged as {attempt.commit[:10]}" if attempt.commit else "nothing to merge"]
    facts += [lasting(attempt.seconds)] if attempt.seconds >= 1 else []
    facts += [dollars(attempt.cost_usd)] if attempt.cost_usd else []
    by = f" by {attempt.agent}" if attempt.agent else ""
    text = f"{attempt.name}{by} ({', '.join(facts)}): {attempt.summary}"
    data = {"summary": attempt.summary, "commit": attempt.commit, **_facts_of(attempt)}
    return HistoryEntry(kind="resolved", at=event.at, text=text, atoms=(attempt.atom,), attempt=attempt.name, data=data)


def _failed(at: str, attempt: Attempt) -> HistoryEntry:
    """A failure that the trail does not have any more: a person changed the objective since."""
    text, data = f"{attempt.name}: {attempt.reason}", {"reason": attempt.reason, **_facts_of(attempt)}
    return HistoryEntry(kind="failure", at=at, text=text, atoms=(attempt.atom,), attempt=attempt.name, data=data)


def _facts_of(attempt: Attempt) -> dict[str, Any]:
    return {
        "atom": attempt.atom,
        "agent": attempt.agent,
        "outcome": attempt.outcome,
        "seconds": attempt.seconds,
        "cost_usd": attempt.cost_usd,
    }


_ENDS = {
    "cancelled": ("ended_early", "was ended before it had a result"),
    "must_wait": ("waited", "has to wait"),
    "unavailable": ("waited", "could not be started"),
    "proposed": ("split", "proposes to split the atom"),
    "probed": ("probed", "has examined the atom"),
}
"""Ends of attempts that are neither a success nor a failure: those have entries of their own."""


def _ended_attempt(event: kinds.AttemptEnded, attempt: Attempt, trail: TrailEntries) -> Iterator[HistoryEntry]:
    """No entry for an attempt that is done: its merge gives one."""
    if attempt.fate == "failed":
        yield trail.failure_of(attempt, event.at) or _failed(event.at, attempt)
    elif event.outcome == "unavailable" and (failure := trail.failure_of(attempt, event.at)) is not None:
        yield failure
    elif event.outcome in _ENDS:
        kind, words = _ENDS[event.outcome]
        text = f"{attempt.name} {words}" + (f": {event.summary}" if event.summary else "")
        yield HistoryEntry(
            kind=kind, at=event.at, text=text, atoms=(event.atom,), attempt=attempt.name, data=_facts_of(attempt)
        )


def _began(event: kinds.RunBegan) -> str:
    return f"the run began on {event.branch}" if event.branch else "the run began"


def _ended(event: kinds.RunEnded) -> str:
    spent = f", {dollars(event.cost_usd)} in all" if event.cost_usd else ""
    if event.status == "completed":
        return f"the base case holds; the run is complete{spent}"
    return f"the run stopped{spent}: {event.reason or 'no reason is known'}"


def _end_announced(event: kinds.EndAnnounced) -> str:
    does = "ended" if event.are_ended else "waited for"
    return f"{event.reason}; {does}: {listed(event.running)}"


def _verified(event: kinds.Verified) -> str:
    about = event.atom if event.atom is not None else "base case"
    if event.passed:
        return f"{about}: it holds"
    found = "a person has to judge" if event.undecided else "it does not hold yet"
    return f"{about}: {found}" + (f": {', '.join(event.failing)}" if event.failing else "")


def _not_merged(event: kinds.NotMerged) -> str:
    why = "waits to be merged" if event.why == "blocked" else "not merged, because it conflicts"
    return f"{event.name or event.atom}: {why}: {event.reason}"


def _taken_back(event: kinds.TakenBack) -> str:
    problem = f"could not be reverted: {event.problem}" if event.problem is not None else "reverted on the branch"
    return f"{listed(event.atoms)}: {problem}"


def half_spent_in_words(event: kinds.HalfSpent) -> str:
    """The warning that half is spent, and what a person can do about it."""
    money = f" and {dollars(event.cost_usd)}" if event.cost_usd else ""
    at = f" (most failures: {listed(event.atoms)})" if event.atoms else ""
    return (
        f"no progress for {counted(event.attempts, 'attempt')}{money}, at most {event.more:,} more{at}:"
        " stop it (aot stop), change its direction (aot redirect), or let it continue"
    )


_TOLD: dict[type[kinds.RunEvent], Callable[[Any], str]] = {
    kinds.RunBegan: _began,
    kinds.RunEnded: _ended,
    kinds.Paused: lambda event: "paused" + (f"; {listed(event.running)} went on" if event.running else ""),
    kinds.PauseEnded: lambda _: "the pause is over",
    kinds.EndAnnounced: _end_announced,
    kinds.Verified: _verified,
    kinds.NotMerged: _not_merged,
    kinds.TakenBack: _taken_back,
    kinds.HalfSpent: half_spent_in_words,
    kinds.AtomsAdded: lambda event: f"new: {listed(event.atoms)}",
    kinds.AtomsReopened: lambda event: f"{listed(event.atoms)}: open again, because what they cover fails",
    kinds.PartsWithdrawn: lambda event: f"{listed(event.parents)}: done as one atom again",
}


def _atoms_of(event: kinds.RunEvent) -> tuple[str, ...]:
    atom = getattr(event, "atom", None)
    return (*((atom,) if atom else ()), *getattr(event, "atoms", ()), *getattr(event, "parents", ()))
