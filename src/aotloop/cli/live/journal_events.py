"""The journals of an atom's attempts, for a person: their folders, and the last output of the latest attempt."""

from __future__ import annotations

from typing import Any

import click
import msgspec
from msgspec.structs import replace

from aotloop.cli.ui.output import faint, heading, shortest, tell
from aotloop.execution.attempts.attempt_names import AttemptNames
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.run_events import AttemptBegan
from aotloop.text.sanitize import prose, visible

MOST_TOLD = 10
MOST_OUTPUT = 10


class Journals(msgspec.Struct, frozen=True):
    attempts: list[AttemptBegan] = []
    places: list[str | None] = []
    """The folder of each journal; None: it was removed."""
    output: list[str] = []

    def as_data(self) -> dict[str, Any]:
        attempts = [{**msgspec.to_builtins(attempt), "folder": place} for attempt, place in self._pairs]
        for attempt in attempts:
            del attempt["kind"]
        return {"attempts": attempts, "output": self.output}

    def tell(self) -> None:
        if not self.attempts:
            return
        click.echo()
        click.echo(heading("Journals of its attempts"))
        if len(self.attempts) > MOST_TOLD:
            click.echo(faint(f"  … {len(self.attempts) - MOST_TOLD:,} earlier ones"))
        for attempt, place in self._pairs[-MOST_TOLD:]:
            name = visible(attempt.name) + (", a probe" if attempt.role == "probe" else "")
            where = visible(shortest(place)) if place is not None else "gone"
            tell(where, head=f"  {prose(attempt.at)}  {name}  ", note=prose(attempt.agent))
        if self.output:
            click.echo()
            click.echo(heading(f"The last lines that {visible(self.attempts[-1].name)} printed"))
            for line in self.output:
                click.echo(f"  {line}")

    @property
    def _pairs(self) -> list[tuple[AttemptBegan, str | None]]:
        return list(zip(self.attempts, self.places, strict=True))


def journals_of(state_file: str, atom: str) -> Journals:
    events = EventsFile(state_file)
    names = AttemptNames()
    attempts = [replace(begun, name=names.named(begun)) for begun in events.attempts_at(atom)]
    places = [events.folder_of(attempt.folder) for attempt in attempts]
    return Journals(
        attempts=attempts,
        places=[str(place) if place is not None else None for place in places],
        output=events.output_of(attempts[-1].folder, MOST_OUTPUT) if attempts else [],
    )
