"""The name of an attempt for people: `A2#1` is the first attempt on the atom A2 in this loop.

Only here is a name made or taken apart. Runs number their attempts across all atoms; that number names folders and
refs. An attempt gets its name when it begins, and its events carry the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.run_events import AttemptBegan, RunBegan, RunEvent
from aotloop.execution.ship_events import ShipBegan


def attempt_name(atom: str, ordinal: int) -> str:
    return f"{atom}#{ordinal}"


def taken_apart(name: str) -> tuple[str, int | None]:
    """`A2#1` → A2, 1; `A2` → A2, None. An atom's id may have a `#` too: only digits after the last one count."""
    atom, mark, digits = name.rpartition("#")
    if mark and atom and digits.isascii() and digits.isdecimal() and int(digits) > 0:
        return atom, int(digits)
    return name, None


class AttemptNames:
    """The names of all attempts of one loop, those of earlier runs included."""

    def __init__(self, begun: Iterable[AttemptBegan] = ()) -> None:
        self._last: dict[str, int] = {}
        self._names: dict[tuple[str, int], str] = {}
        """By atom and number: the number of an attempt that could not be started is given again."""
        for event in begun:
            self._names[event.atom, event.attempt] = self.named(event)

    def named(self, event: AttemptBegan) -> str:
        """Its own name; journals of earlier versions have none, and then the order counts."""
        atom, ordinal = taken_apart(event.name)
        if ordinal is None or atom != event.atom:
            ordinal = self._last.get(event.atom, 0) + 1
        self._last[event.atom] = max(ordinal, self._last.get(event.atom, 0))
        return attempt_name(event.atom, ordinal)

    def of(self, atom: str, number: int) -> str:
        """An attempt that has no name yet gets the next one of its atom."""
        if (atom, number) not in self._names:
            self._last[atom] = self._last.get(atom, 0) + 1
            self._names[atom, number] = attempt_name(atom, self._last[atom])
        return self._names[atom, number]


def names_in(events: EventsFile, run_id: str) -> AttemptNames:
    return AttemptNames(event for event in events_of_run(events, run_id) if isinstance(event, AttemptBegan))


def events_of_run(events: EventsFile, run_id: str | None) -> Iterator[RunEvent]:
    """Every known event of the loop with this id, oldest first: a loop keeps its id until it is aligned anew."""
    current: str | None = None
    for event in events.all_events():
        if isinstance(event, RunBegan | ShipBegan):
            current = event.run_id
        if run_id is not None and current == run_id:
            yield event
