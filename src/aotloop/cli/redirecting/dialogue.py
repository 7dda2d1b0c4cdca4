"""A person changes the direction of a loop, step by step. Everything waits meanwhile, and goes on afterwards.

The request in the file belongs to the lease that this process holds. However the dialogue ends, the request is taken
back; if the process is killed, the lease is gone, and whoever runs the loop takes the request for expired.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from aotloop import app
from aotloop.cli.asking import agrees, ask
from aotloop.cli.foreign import prose, visible
from aotloop.cli.output import heading, mark, say_next, tell
from aotloop.cli.redirecting import questions
from aotloop.cli.redirecting.applying import apply, refuse_unless_underway, rehearse
from aotloop.cli.redirecting.situation import show
from aotloop.cli.redirecting.telling import in_words, next_steps
from aotloop.cli.redirecting.wishes import Wishes
from aotloop.cli.stop import in_words as stopped_in_words
from aotloop.cli.stop import waiting_line
from aotloop.cli.stopping import stop_and_wait
from aotloop.core import events
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import AotError, IllegalEvent
from aotloop.statefile.lease import holder_of, lease
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agreed, difference

GO_ON, STOP, TAKE_FILE = "0", "9", "8"

KINDS: dict[str, tuple[str, questions.Asked]] = {
    "1": ("the objective; the search starts afresh", questions.about_objective),
    "2": ("the effort, or a limit such as the number of iterations", questions.about_limits),
    "3": ("add an atom", questions.about_addition),
    "4": ("take an atom out", questions.about_removal),
    "5": ("choose for a group", questions.about_choice),
    "6": ("describe a result anew; what was built on it is done again", questions.about_summary),
    "7": ("let an atom start afresh, with more attempts", questions.about_retry),
    TAKE_FILE: ("take over what was changed in the file", lambda _: Wishes(takes_file=True)),
}


def converse(store: Store) -> None:
    is_stopping = False
    with lease(store.path, "redirect", since=app.now()), _everything_waits(store):
        show(store.load())
        with suppress(EOFError):  # to end the input is to leave
            while (answer := _menu(store)) not in (GO_ON, STOP):
                _change(store, answer)
            is_stopping = answer == STOP
        if is_stopping:
            _stop(store)
    if not is_stopping:
        tell("The loop goes on." if holder_of(store.path) is not None else "Nobody runs the loop now.", err=True)
    say_next(*next_steps(store))


@contextmanager
def _everything_waits(store: Store) -> Iterator[None]:
    def request(loop: Loop) -> None:
        refuse_unless_underway(store, loop)
        if loop.control.redirect_requested:  # by somebody who is gone: it is we who hold the lease
            advance(loop, events.RedirectExpired())
        advance(loop, events.RedirectRequested())

    try:
        store.update(request)
        yield
    finally:
        app.apply(store, events.RedirectExpired())


def _menu(store: Store) -> str:
    kinds = dict(KINDS)
    before = agreed(store.path)
    changed = difference(before, store.load().objective) if before is not None else []
    if not changed:
        del kinds[TAKE_FILE]
    tell("What should change?", style=heading, err=True)
    for line in changed:
        tell(prose(line), head="      ", err=True)
    for number, (label, _) in kinds.items():
        tell(label, head=f"  {number}  ", err=True)
    tell("nothing, go on", head=f"  {GO_ON}  ", err=True)
    tell("stop the loop", head=f"  {STOP}  ", err=True)
    while (answer := ask("Number:") or GO_ON) not in (*kinds, GO_ON, STOP):
        tell(f"There is no {answer}.", err=True)
    return answer


def _change(store: Store, kind: str) -> None:
    """Asks, says in a sentence what it will do, and does it. What cannot be is said, and the dialogue goes on."""
    try:
        wishes = KINDS[kind][1](store.load())
        if wishes is None:
            return
        tell(f"This is what would be done: {visible(in_words(rehearse(store, store.load(), wishes)))}", err=True)
        if agrees("Do it?"):
            applied = apply(store, wishes, is_more_to_come=True)
            tell(prose(in_words(applied)), head=f"{mark(True)} ", err=True)
        else:
            tell("Nothing was changed.", err=True)
    except AotError as error:
        why = error.why if isinstance(error, IllegalEvent) else error.message
        tell(prose(" ".join(filter(None, (f"That cannot be: {why}.", error.hint)))), head=f"{mark(False)} ", err=True)


def _stop(store: Store) -> None:
    reason = ask("Why? (Enter: no reason)")
    with waiting_line() as on_wait:
        stopping = stop_and_wait(store, reason or None, on_wait=on_wait)
    tell(prose(stopped_in_words(stopping)), head=f"{mark(True)} ", err=True)
