"""Everything that a report tells, as one value: the same facts as `aot show`, `aot status` and the web page."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.app.diagram.diagram import Look, Picture, picture_of
from aotloop.app.history.attempts import Attempt, attempts_of
from aotloop.app.history.costs import Costs, costs_of
from aotloop.app.history.loop_history import history_of
from aotloop.app.history.trail_entries import HistoryEntry
from aotloop.app.overview.checklist_view import BaseCaseView, view_of_base_case
from aotloop.app.overview.loop_facts import Head, facts_of
from aotloop.clock import now
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop, Used
from aotloop.execution import run_events
from aotloop.execution.attempts.attempt_names import events_of_run
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.statefile.store import Store
from aotloop.text.secrets import Secrets, secret_values, variables_in

MOST_OF_A_FILE = 64 << 10
"""Bytes that are read of a file with variables."""

MarkKind = Literal["run", "generation", "merged", "taken_back", "ended"]

FAILURES = frozenset(
    {"failure", "selection", "taken_back", "not_merged", "reopened", "withdrawn", "ended_early", "half_spent"}
)
"""Entries of the history about failures, reverts and switches to another choice."""


class TimeMark(msgspec.Struct, frozen=True):
    """Something that happened at one moment."""

    at: str
    kind: MarkKind
    text: str


class AtomReport(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    description: str
    look: Look
    depends_on: tuple[str, ...]
    group: str | None
    is_selected: bool
    command: str | None
    """It was done by this command, without an agent."""
    summary: str
    """Its result; empty: it has none."""
    artifacts: tuple[str, ...]
    attempts: tuple[Attempt, ...]


class ReportFacts(msgspec.Struct, frozen=True, kw_only=True):
    made_at: str
    head: Head
    base_case: BaseCaseView
    atoms: tuple[AtomReport, ...]
    history: tuple[HistoryEntry, ...]
    marks: tuple[TimeMark, ...]
    costs: Costs
    picture: Picture
    used: Used

    @property
    def attempts(self) -> list[Attempt]:
        return [attempt for atom in self.atoms for attempt in atom.attempts]

    @property
    def failures(self) -> list[HistoryEntry]:
        return [entry for entry in self.history if entry.kind in FAILURES]


def report_facts(store: Store) -> ReportFacts:
    """Of the loop as it is now. Nothing is changed, and a run may go on meanwhile."""
    loop = store.load()
    head = facts_of(store).head
    picture = picture_of(loop)
    return ReportFacts(
        made_at=now(),
        head=head,
        base_case=view_of_base_case(store.path, loop),
        atoms=tuple(_atoms(store.path, loop, picture)),
        history=tuple(history_of(store.path, loop)),
        marks=tuple(_marks(store.path, loop.control.run_id)),
        costs=costs_of(store.path, loop),
        picture=picture,
        used=loop.control.used,
    )


def _atoms(state_file: str, loop: Loop, picture: Picture) -> Iterator[AtomReport]:
    made: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts_of(state_file, loop.control.run_id):
        made[attempt.atom].append(attempt)
    graph, looks = Graph(loop), {card.id: card.look for card in picture.cards}
    for atom in loop.atoms:
        group, result = graph.group_of.get(atom.id), loop.bindings.get(atom.id)
        yield AtomReport(
            id=atom.id,
            description=atom.description,
            look=looks[atom.id],
            depends_on=atom.depends_on,
            group=group,
            is_selected=group is not None and loop.or_groups[group].selected == atom.id,
            command=atom.run,
            summary=result.summary if result is not None else "",
            artifacts=result.artifacts if result is not None else (),
            attempts=tuple(made.pop(atom.id, ())),
        )
    for name, attempts in made.items():  # a person removed the atom, and the attempts were made all the same
        yield AtomReport(
            id=name,
            description="(removed from the file)",
            look="unselected",
            depends_on=(),
            group=None,
            is_selected=False,
            command=None,
            summary="",
            artifacts=(),
            attempts=tuple(attempts),
        )


def _marks(state_file: str, run_id: str | None) -> Iterator[TimeMark]:
    for event in events_of_run(EventsFile(state_file), run_id):
        match event:
            case run_events.RunBegan():
                yield TimeMark(event.at, "run", "a run began")
            case run_events.GenerationEnded():
                yield TimeMark(event.at, "generation", f"iteration {event.iteration} ended")
            case run_events.Merged():
                yield TimeMark(event.at, "merged", f"{event.name or event.atom} was merged")
            case run_events.TakenBack(problem=None):
                yield TimeMark(event.at, "taken_back", f"taken back: {', '.join(event.atoms)}")
            case run_events.RunEnded():
                yield TimeMark(event.at, "ended", event.reason or "the base case holds")


def known_secrets(root: Path) -> Secrets:
    """Of this process's variables, and of the files with variables in the project."""
    values = [*secret_values(os.environ)]
    for path in sorted(root.glob(".env*"))[:20]:
        text = last_bytes(path, MOST_OF_A_FILE, follows_link=True)[0].decode("utf-8", "replace")
        values += secret_values(variables_in(text))
    return Secrets(values)
