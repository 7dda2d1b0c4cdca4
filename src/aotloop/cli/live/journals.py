"""What the attempts at one atom left behind: where their journals are, and what the latest one printed last."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from aotloop.cli.foreign import prose, visible
from aotloop.cli.live.journal import EventsFile
from aotloop.cli.output import faint, heading, shortest, tell
from aotloop.runner.news import AttemptBegan

MOST_TOLD = 10
MOST_OUTPUT = 10


class Journals(msgspec.Struct, frozen=True):
    attempts: list[AttemptBegan] = []
    places: list[str | None] = []
    """Of each; None: it is gone."""
    output: list[str] = []

    def as_data(self) -> dict[str, Any]:
        attempts = [{**msgspec.to_builtins(one), "folder": place} for one, place in self._pairs]
        for one in attempts:
            del one["kind"]
        return {"attempts": attempts, "output": self.output}

    def tell(self) -> None:
        if not self.attempts:
            return
        click.echo()
        click.echo(heading("Journals of its attempts"))
        if len(self.attempts) > MOST_TOLD:
            click.echo(faint(f"  … {len(self.attempts) - MOST_TOLD:,} earlier ones"))
        for one, place in self._pairs[-MOST_TOLD:]:
            does = "probe" if one.role == "probe" else "attempt"
            where = visible(shortest(place)) if place is not None else "gone"
            tell(where, head=f"  {prose(one.at)}  {does} {one.attempt}  ", note=prose(one.agent))
        if self.output:
            click.echo()
            click.echo(heading(f"The last of what attempt {self.attempts[-1].attempt} printed"))
            for line in self.output:
                click.echo(f"  {line}")

    @property
    def _pairs(self) -> list[tuple[AttemptBegan, str | None]]:
        return list(zip(self.attempts, self.places, strict=True))


def journals_of(state_file: str, atom: str) -> Journals:
    events = EventsFile(state_file)
    attempts = events.attempts_at(atom)
    places = [events.folder_of(one.folder) for one in attempts]
    return Journals(
        attempts=attempts,
        places=[str(place) if place is not None else None for place in places],
        output=events.output_of(attempts[-1].folder, MOST_OUTPUT) if attempts else [],
    )
