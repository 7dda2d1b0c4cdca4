"""`aot log`: it tells what happened, one line for each thing, or, with --follow, new events of runs."""

from __future__ import annotations

import click

from aotloop.app.history.loop_history import history_of
from aotloop.app.history.trail_entries import HistoryEntry
from aotloop.app.loops import known_atom, open_store
from aotloop.cli.live.event_lines import follow_news
from aotloop.cli.live.journal_events import journals_of
from aotloop.cli.ui.loop_names import complete_atom
from aotloop.cli.ui.options import state_file_option
from aotloop.cli.ui.output import named, say_json, say_next, tell
from aotloop.core.model import Loop
from aotloop.exit_codes import INTERRUPTED
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose
from aotloop.text.shorten import headline

COLOURS = {
    "selection": "cyan",
    "failure": "red",
    "user_correction": "magenta",
    "correction": "magenta",
    "half_spent": "yellow",
    "resolved": "green",
    "not_merged": "yellow",
    "taken_back": "yellow",
}
"""Other kinds have no colour."""


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
    """Tell what happened, oldest first: runs, results, failures, selections and corrections; with ATOM, only its own.

    With ATOM, reasons are shown in full, with the folders of its attempts' journals, and the last output of the latest
    attempt. `aot show` shows one attempt with its transcript and its changes.
    """
    store = open_store(state_file)
    if follow:
        _follow(store, atom, as_json=as_json)
        ctx.exit(INTERRUPTED)
    loop = store.load()
    entries = history_of(store.path, loop, atom)
    if atom is None:
        _show(entries, as_json=as_json)
    else:
        _show_atom(store, loop, atom, entries, as_json=as_json)


def _follow(store: Store, atom: str | None, *, as_json: bool) -> None:
    def make_sure() -> None:
        if atom is not None:
            known_atom(store.load(), atom)

    try:
        follow_news(store.path, atom, as_json=as_json, on_nothing=make_sure)
    except KeyboardInterrupt:
        return  # Ctrl-C is the normal end


def _show(entries: list[HistoryEntry], *, as_json: bool) -> None:
    if as_json:
        say_json({"entries": [entry.as_data() for entry in entries]})
        return
    _tell(entries, "", is_short=True)
    latest = next((entry.attempt for entry in reversed(entries) if entry.attempt is not None), None)
    say_next(*([f"aot show {named(latest)}"] if latest is not None else []), "aot status")


def _show_atom(store: Store, loop: Loop, atom: str, entries: list[HistoryEntry], *, as_json: bool) -> None:
    journals = journals_of(store.path, atom)
    if not entries and not journals.attempts:
        known_atom(loop, atom)  # the history may name removed atoms
    if as_json:
        say_json({"entries": [entry.as_data() for entry in entries], **journals.as_data()})
    else:
        _tell(entries, f" with {prose(atom)}", is_short=False)
        journals.tell()
        say_next(*([f"aot show {named(atom)}"] if journals.attempts else []), "aot status")


def _tell(entries: list[HistoryEntry], about: str, *, is_short: bool) -> None:
    if not entries:
        click.echo(f"Nothing has happened{about} so far: no result, no failure, no correction.")
    for entry in entries:
        kind = f"{entry.kind:<15}"
        head = f"{prose(entry.at)}  {click.style(kind, fg=COLOURS.get(entry.kind))}  "
        tell(headline(entry.text) if is_short else prose(entry.text), head=head)
