"""`aot log`: the loop's history as the state file keeps it: selections, failures, corrections."""

from __future__ import annotations

from typing import Any

import click

from aotloop import app
from aotloop.cli.foreign import prose
from aotloop.cli.names import complete_atom, known_atom
from aotloop.cli.options import json_option, state_file_option
from aotloop.cli.output import say_json, say_next, tell
from aotloop.core.model import Correction, Loop, TrailEntry
from aotloop.statefile.emit import to_data

COLOURS = {"selection": "cyan", "failure": "red", "user_correction": "magenta", "correction": "magenta"}


@click.command(
    "log",
    epilog="""\b
Examples:
  aot log
  aot log A4
  aot log --json | jq '.entries[-1]'
""",
)
@state_file_option
@json_option
@click.argument("atom", required=False, shell_complete=complete_atom)
def command(state_file: str | None, as_json: bool, atom: str | None) -> None:
    """Show what was selected, what failed and what was corrected, oldest first; with ATOM, only what is about it."""
    loop = app.open_store(state_file).load()
    entries = _history(loop, atom)
    if atom is not None and not entries:
        known_atom(loop, atom)  # history may speak of atoms that are gone
    if as_json:
        say_json({"entries": [{"kind": kind, **to_data(entry)} for kind, entry in entries]})
        return
    if not entries:
        about = f" with {prose(atom)}" if atom is not None else ""
        click.echo(f"Nothing has happened{about} so far: no selection, no failure, no correction.")
    for kind, entry in entries:
        tell(_told(entry), head=f"{prose(entry.timestamp)}  {click.style(f'{kind:<15}', fg=COLOURS[kind])}  ")
    say_next("aot status")


def _history(loop: Loop, atom: str | None) -> list[tuple[str, Any]]:
    """In the order of their times; entries of one time stay in the order of the file."""
    entries: list[tuple[str, Any]] = [(entry.type, entry) for entry in loop.trail]
    if atom is None:
        entries += [("correction", entry) for entry in loop.corrections]
    else:
        entries = [(kind, entry) for kind, entry in entries if atom in (entry.atom, entry.selected)]
    return sorted(entries, key=lambda pair: str(pair[1].timestamp))


def _told(entry: TrailEntry | Correction) -> str:
    if isinstance(entry, Correction):
        return prose(f"{entry.type}: {entry.description}{' (trail cleared)' if entry.trail_cleared else ''}")
    about = f"{entry.or_group} → {entry.selected}" if entry.selected is not None else entry.atom or ""
    attempt = f" (attempt {entry.attempt})" if entry.attempt is not None else ""
    return prose(f"{about}{attempt}: {entry.reason}")
