"""A person changes the direction of a loop step by step, while the loop waits.

The request in the file belongs to the lease that this process holds. However the dialogue ends, the request is taken
back; if the process is killed, the lease is gone, and the runner takes the request for expired.
"""

from __future__ import annotations

from contextlib import suppress

from aotloop.app.preflight.agreement import changed_since_agreed
from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.transaction import everything_waits, redirect, rehearse
from aotloop.app.run.stop import stop_and_wait, stopped_in_words
from aotloop.cli.redirect import change_questions
from aotloop.cli.redirect.loop_summary import in_words, next_steps, show
from aotloop.cli.ui.consent_dialog import tell_unkept
from aotloop.cli.ui.output import heading, mark, say_next, tell
from aotloop.cli.ui.progress_line import waiting_line
from aotloop.cli.ui.prompts import agrees, ask
from aotloop.clock import now
from aotloop.errors import AotError, IllegalEvent
from aotloop.statefile.lease import holder_of, lease
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose, visible

GO_ON, STOP, TAKE_FILE = "0", "9", "8"

KINDS: dict[str, tuple[str, change_questions.Asked]] = {
    "1": ("the objective; the search starts again", change_questions.about_objective),
    "2": ("the effort, or a limit such as the number of iterations", change_questions.about_limits),
    "3": ("add an atom", change_questions.about_addition),
    "4": ("remove an atom", change_questions.about_removal),
    "5": ("select the choice of an OR group", change_questions.about_choice),
    "6": ("describe a result again; work based on it is repeated", change_questions.about_summary),
    "7": ("let an atom start again, with more attempts", change_questions.about_retry),
    TAKE_FILE: ("accept the changes in the file", lambda _: Changes(takes_file=True)),
}


def converse(store: Store) -> None:
    is_stopping = False
    with lease(store.path, "redirect", since=now()), everything_waits(store):
        show(store.load())
        with suppress(EOFError):  # the end of the input means: leave
            while (answer := _menu(store)) not in (GO_ON, STOP):
                _change(store, answer)
            is_stopping = answer == STOP
        if is_stopping:
            _stop(store)
    if not is_stopping:
        tell("The loop continues." if holder_of(store.path) is not None else "No process runs the loop now.", err=True)
    say_next(*next_steps(store))


def _menu(store: Store) -> str:
    kinds = dict(KINDS)
    changed = changed_since_agreed(store, store.load().objective)
    if not changed:
        del kinds[TAKE_FILE]
    tell("What should change?", style=heading, err=True)
    for line in changed:
        tell(prose(line), head="      ", err=True)
    for number, (label, _) in kinds.items():
        tell(label, head=f"  {number}  ", err=True)
    tell("nothing, continue", head=f"  {GO_ON}  ", err=True)
    tell("stop the loop", head=f"  {STOP}  ", err=True)
    while (answer := ask("Number:") or GO_ON) not in (*kinds, GO_ON, STOP):
        tell(f"{answer} is not in the list.", err=True)
    return answer


def _change(store: Store, kind: str) -> None:
    """Asks, describes the change in a sentence, and applies it. After a refusal the dialogue continues."""
    try:
        changes = KINDS[kind][1](store.load())
        if changes is None:
            return
        tell(f"This change would be made: {visible(in_words(rehearse(store, store.load(), changes)))}", err=True)
        if agrees("Apply it?"):
            applied = redirect(store, changes, is_more_to_come=True, on_unkept=tell_unkept)
            tell(prose(in_words(applied)), head=f"{mark(True)} ", err=True)
        else:
            tell("Nothing was changed.", err=True)
    except AotError as error:
        why = error.why if isinstance(error, IllegalEvent) else error.message
        tell(
            prose(" ".join(filter(None, (f"This is not possible: {why}.", error.hint)))),
            head=f"{mark(False)} ",
            err=True,
        )


def _stop(store: Store) -> None:
    reason = ask("Why? (Enter: no reason)")
    with waiting_line() as on_wait:
        stopping = stop_and_wait(store, reason or None, on_wait=on_wait)
    tell(prose(stopped_in_words(stopping)), head=f"{mark(True)} ", err=True)
