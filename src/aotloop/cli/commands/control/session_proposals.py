"""`aot proposal`: it shows corrections that sessions propose; a person accepts or dismisses them."""

from __future__ import annotations

import click
import msgspec

from aotloop.app.loops import open_store
from aotloop.app.redirect.preview import Preview
from aotloop.app.redirect.proposals import (
    Proposal,
    accept_proposal,
    dismiss_proposal,
    known_proposal,
    preview_of,
    proposals_of,
)
from aotloop.cli.redirect.loop_summary import in_words, next_steps
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import faint, heading, report_done, say_json, say_next, tell
from aotloop.cli.ui.prompts import is_interactive
from aotloop.errors import AotError, NotTrusted
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose, visible


@click.command(
    "proposal",
    epilog="""\b
Examples:
  aot proposal
  aot proposal 3f9a1c0b7d2e --accept
  aot proposal 3f9a1c0b7d2e --dismiss
""",
)
@state_file_option
@json_option
@click.option("--accept", "decision", flag_value="accept", default=None, help="Make this correction, after a question.")
@click.option("--dismiss", "decision", flag_value="dismiss", default=None, help="Remove this proposal.")
@click.argument("name", required=False)
def command(state_file: str | None, as_json: bool, decision: str | None, name: str | None) -> None:
    """Show corrections that sessions of agents propose, and decide about one.

    Nothing of a proposal is in effect before you accept it. You are asked on the terminal, so that no program can
    accept it for you.
    """
    store = open_store(state_file)
    if decision is not None and name is None:
        raise click.UsageError(f"Name the proposal to {decision}; `aot proposal` lists them.")
    shown = [known_proposal(store, name)] if name is not None else proposals_of(store)
    if decision == "dismiss" and name is not None:
        dismiss_proposal(store, name)
        report_done(
            as_json=as_json, data={"dismissed": name}, message=f"dismissed {visible(name)}", steps=["aot status"]
        )
        return
    if as_json and decision is None:
        say_json({"proposals": [_data(store, proposal) for proposal in shown]})
        return
    for proposal in shown:
        _tell(store, proposal)
    if decision == "accept" and name is not None:
        _accept(store, name, as_json=as_json)
    elif not shown:
        tell("no proposal waits for you")
    else:
        say_next(*(f"aot proposal {proposal.name} --accept" for proposal in shown[:1]), "aot proposal NAME --dismiss")


def _accept(store: Store, name: str, *, as_json: bool) -> None:
    if not is_interactive():
        raise NotTrusted("a proposal is accepted by a person at a terminal", hint="Run this command in your terminal.")
    click.confirm("Make this correction?", default=False, abort=True, err=True)
    applied = accept_proposal(store, name)
    data = {"accepted": name, "told": list(applied.told), "undone": list(applied.undone)}
    report_done(as_json=as_json, data=data, message=prose(in_words(applied)), steps=next_steps(store))


def _tell(store: Store, proposal: Proposal) -> None:
    tell(proposal.name, style=heading, note=f"{proposal.at}, by {prose(proposal.by)}")
    wanted = msgspec.to_builtins(proposal.wishes)
    for field, value in wanted.items():
        if value not in ("", None, False, [], {}):
            tell(visible(value if isinstance(value, str) else msgspec.json.encode(value).decode()), head=f"  {field}: ")
    found = _preview(store, proposal)
    if isinstance(found, str):
        tell(prose(found), head=faint("  not possible now: "))
        return
    effects = {
        "does": found.told,
        "done again": found.reset,
        "reverted": found.reverted,
        "interrupted": found.interrupted,
        "removed": found.removed,
        "new commands": found.commands,
    }
    for what, names in effects.items():
        for name in names:
            tell(visible(name), head=faint(f"  {what}: "))


def _data(store: Store, proposal: Proposal) -> dict[str, object]:
    found = _preview(store, proposal)
    effect = {"problem": found} if isinstance(found, str) else {"preview": msgspec.to_builtins(found)}
    return {**msgspec.to_builtins(proposal), **effect}


def _preview(store: Store, proposal: Proposal) -> Preview | str:
    """Or why it is not possible now."""
    try:
        return preview_of(store, proposal)
    except AotError as error:
        return error.message
