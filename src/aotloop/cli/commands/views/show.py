"""`aot show`: all that is known of an atom and of an attempt, for a person who wants to understand it."""

from __future__ import annotations

import click
import msgspec

from aotloop.app.history.costs import spending
from aotloop.app.loops import open_store
from aotloop.app.show import AtomFacts, AttemptFacts, show_atom, show_attempt
from aotloop.cli.ui.attempt_views import tell_attempt, tell_attempts
from aotloop.cli.ui.loop_names import complete_attempt
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import faint, heading, named, say_json, say_next, tell
from aotloop.core.model import Atom
from aotloop.execution.attempts.attempt_names import taken_apart
from aotloop.statefile.store import Store
from aotloop.text.phrases import counted, lasting
from aotloop.text.sanitize import prose, visible

PARTS = ("prompt", "transcript", "diff", "checks")


@click.command(
    "show",
    epilog="""\b
Examples:
  aot show A2                        the atom, and its last attempt
  aot show A2#1                      the first attempt on A2
  aot show A2#1 --only transcript
  aot show A2#1 --json | jq .attempt.cost_usd
""",
)
@state_file_option
@json_option
@click.option("--only", type=click.Choice(PARTS), help="Show only this part of the attempt.")
@click.argument("name", shell_complete=complete_attempt)
def command(state_file: str | None, as_json: bool, only: str | None, name: str) -> None:
    """Show an atom or an attempt: prompt, transcript, diff, checks, cost, and what became of it.

    NAME is an atom, such as A2, or an attempt, such as A2#1: the first attempt on A2. For an atom, its last attempt is
    shown too.
    """
    store = open_store(state_file)
    is_attempt = taken_apart(name)[1] is not None and not _is_atom(store, name)
    atom = None if is_attempt else show_atom(store, name)
    attempt = show_attempt(store, name) if is_attempt or (atom is not None and atom.attempts) or only else None
    if as_json:
        say_json(_as_data(atom, attempt))
        return
    if atom is not None and only is None:
        _tell_atom(atom)
    if attempt is not None:
        tell_attempt(attempt, parts=PARTS if only is None else (only,))
    say_next(*_steps(name, atom, attempt))


def _is_atom(store: Store, name: str) -> bool:
    """Ids may have any characters."""
    return any(atom.id == name for atom in store.load().atoms)


def _as_data(atom: AtomFacts | None, attempt: AttemptFacts | None) -> dict[str, object]:
    """The atom's facts; of an attempt its own, with the attempt's own fields under `attempt`."""
    found: dict[str, object] = msgspec.to_builtins(atom) if atom is not None else {}
    shown = msgspec.to_builtins(attempt) if attempt is not None else None
    return {**found, "last": shown} if atom is not None else shown or {}


def _steps(name: str, atom: AtomFacts | None, attempt: AttemptFacts | None) -> list[str]:
    if attempt is None:
        return [f"aot prompt {named(name)}", "aot status"]
    steps = [f"aot diff {named(attempt.attempt.name)}"] if attempt.diff else []
    return [*steps, f"aot log {named(attempt.attempt.atom if atom is None else name)}"]


def _tell_atom(facts: AtomFacts) -> None:
    atom = facts.atom
    tell(prose(atom.description), head=f"{heading(visible(atom.id))}  ")
    tell(_standing(facts), head=f"{faint('status')}       ")
    for label, names in (("needs", atom.depends_on), ("needed by", facts.needed_by), ("parts", facts.parts)):
        if names:
            tell(", ".join(map(visible, names)), head=faint(f"{label:<10}") + "   ")
    for label, value in _terms(atom):
        tell(visible(value), head=faint(f"{label:<10}") + "   ")
    if facts.result is not None:
        tell(prose(facts.result.summary), head=f"{faint('result')}       ")
    spent = [*spending(facts.cost_usd, facts.used), *([lasting(facts.seconds)] if facts.seconds >= 1 else [])]
    if spent:
        tell(" · ".join(spent), head=f"{faint('cost')}         ")
    tell_attempts(facts.attempts)


def _standing(facts: AtomFacts) -> str:
    status = facts.atom.status.replace("_", " ")
    if facts.waits_for and facts.atom.status == "pending":
        return f"{status}; it waits for {', '.join(map(visible, facts.waits_for))}"
    failed = f"; it failed {counted(len(facts.failures), 'time')}" if facts.failures else ""
    why = f"; {prose(facts.why_not_ready)}" if facts.why_not_ready else ""
    return f"{status}{failed}{why}"


def _terms(atom: Atom) -> list[tuple[str, str]]:
    terms = [("command", atom.run), ("group", atom.or_group), ("agent", atom.agent)]
    terms += [("covers", ", ".join(atom.covers)), ("touches", ", ".join(atom.touches))]
    terms += [("check", atom.check.value or atom.check.type or "several parts")] if atom.check is not None else []
    return [(label, value) for label, value in terms if value]
