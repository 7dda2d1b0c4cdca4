"""`aot log`: it shows the history in the state file or, with --follow, new events of runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from aotloop.app.loops import open_store
from aotloop.app.names import known_atom
from aotloop.cli.live.event_words import half_spent
from aotloop.cli.live.journal_events import EventsFile
from aotloop.cli.ui.loop_names import complete_atom
from aotloop.cli.ui.options import state_file_option
from aotloop.cli.ui.output import say_json, say_next, tell
from aotloop.core.model import Correction, Loop, TrailEntry
from aotloop.execution.run_events import HalfSpent
from aotloop.exit_codes import INTERRUPTED
from aotloop.statefile.store import Store
from aotloop.statefile.yaml.emitter import to_data
from aotloop.text.sanitize import prose
from aotloop.text.shorten import headline

Entry = TrailEntry | Correction | HalfSpent

COLOURS = {
    "selection": "cyan",
    "failure": "red",
    "user_correction": "magenta",
    "correction": "magenta",
    "half_spent": "yellow",
}


@click.command(
    "log",
    epilog="""\b
Examples:
  aot log
  aot log A4
  aot log --follow
  aot log --json | jq '.entries[-1]'
""",
)
@state_file_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, or, with --follow, one per line.")
@click.option("-f", "--follow", is_flag=True, help="Print the last 20 events, then new events as they happen.")
@click.argument("atom", required=False, shell_complete=complete_atom)
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, follow: bool, atom: str | None) -> None:
    """Show what was selected, what failed and what was corrected, oldest first; with ATOM, only its own entries.

    With ATOM, reasons are shown in full, with the folders of its attempts' journals, and the last output of the latest
    attempt.
    """
    store = open_store(state_file)
    if follow:
        _follow(store, atom, as_json=as_json)
        ctx.exit(INTERRUPTED)
    loop = store.load()
    entries = _history(loop, atom, EventsFile(store.path).half_spent_in(loop.control.run_id))
    if atom is None:
        _show(entries, as_json=as_json)
    else:
        _show_atom(store, loop, atom, entries, as_json=as_json)


def _follow(store: Store, atom: str | None, *, as_json: bool) -> None:
    from aotloop.cli.live.event_lines import follow_news  # noqa: PLC0415 - only needed here

    def make_sure() -> None:
        if atom is not None:
            known_atom(store.load(), atom)

    try:
        follow_news(store.path, atom, as_json=as_json, on_nothing=make_sure)
    except KeyboardInterrupt:
        return  # Ctrl-C is the normal end


def _show(entries: list[tuple[str, Any]], *, as_json: bool) -> None:
    if as_json:
        say_json({"entries": _as_data(entries)})
    else:
        _tell(entries, "", headline)
        say_next("aot status")


def _show_atom(store: Store, loop: Loop, atom: str, entries: list[tuple[str, Any]], *, as_json: bool) -> None:
    from aotloop.cli.live.journal_events import journals_of  # noqa: PLC0415 - only needed here

    journals = journals_of(store.path, atom)
    if not entries and not journals.attempts:
        known_atom(loop, atom)  # the history may name removed atoms
    if as_json:
        say_json({"entries": _as_data(entries), **journals.as_data()})
    else:
        _tell(entries, f" with {prose(atom)}")
        journals.tell()
        say_next("aot status")


def _history(loop: Loop, atom: str | None, half_spent: list[HalfSpent]) -> list[tuple[str, Any]]:
    """Sorted by time; entries with equal times keep the order of the file."""
    entries: list[tuple[str, Any]] = [(entry.type, entry) for entry in loop.trail]
    if atom is None:
        entries += [("correction", entry) for entry in loop.corrections]
        entries += [("half_spent", warning) for warning in half_spent]
    else:
        entries = [(kind, entry) for kind, entry in entries if atom in (entry.atom, entry.selected)]
    return sorted(entries, key=lambda pair: _time_of(pair[1]))


def _time_of(entry: Entry) -> str:
    return entry.at if isinstance(entry, HalfSpent) else str(entry.timestamp)


def _as_data(entries: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{"kind": kind, "timestamp": _time_of(entry), **to_data(entry)} for kind, entry in entries]


def _tell(entries: list[tuple[str, Any]], about: str, shown: Callable[[str], str] = prose) -> None:
    if not entries:
        click.echo(f"Nothing has happened{about} so far: no selection, no failure, no correction.")
    for kind, entry in entries:
        tell(shown(_told(entry)), head=f"{prose(_time_of(entry))}  {click.style(f'{kind:<15}', fg=COLOURS[kind])}  ")


def _told(entry: Entry) -> str:
    if isinstance(entry, HalfSpent):
        return half_spent(entry)
    if isinstance(entry, Correction):
        return f"{entry.type}: {entry.description}{' (trail cleared)' if entry.trail_cleared else ''}"
    about = f"{entry.or_group} → {entry.selected}" if entry.selected is not None else entry.atom or ""
    attempt = f" (attempt {entry.attempt})" if entry.attempt is not None else ""
    return f"{about}{attempt}: {entry.reason}"
