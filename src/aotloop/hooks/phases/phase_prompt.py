"""UserPromptSubmit about shipping: a person continues the loop here, or decides about it.

The decision is recorded in a place that agents do not use, and the script that acts on it reads it there. A
cancellation needs no script: it happens at once.
"""

from __future__ import annotations

import msgspec

from aotloop.app.session.typed_approvals import subject_of
from aotloop.core.phases.events import LoopCancelled, SessionBound
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import FINAL
from aotloop.errors import AotError, IllegalEvent
from aotloop.hooks.answers import Answer, Context
from aotloop.hooks.payload import Told
from aotloop.hooks.phases.typed_commands import Wish, command_in, typed, wish_in
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.text.shorten import short_line
from aotloop.trust.human_approvals import Kind, Word, note

NOTED: dict[Kind, str] = {
    "begin": "The person's feature and options are noted down; `ship.py begin` begins with them.",
    "approve": "The person has approved the acceptance tests as they are now; `ship.py approve` acts on it.",
    "refuse": "The person has refused the acceptance tests; `ship.py refuse` acts on it.",
    "advance": "The person wants this phase left as it is; `ship.py advance` acts on it.",
    "resume": "The person wants the loop to go on; `ship.py resume` acts on it.",
    "accept": "What the person accepts is noted down; do again what was refused.",
}


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    is_run_elsewhere: bool = False


def decide(told: Told, store: PhaseStore | None, now: Circumstances) -> Answer:
    asked = command_in(told.prompt)
    if asked is None or not told.session_id or told.agent_type is not None:
        return Answer()
    command, words = asked
    loop = store.load() if store is not None else None
    if command == "ship-status":
        return Answer()
    if now.is_run_elsewhere:
        return Context(text="`aot ship` runs this loop in a terminal; what a session does about it does not count.")
    if command == "ship-cancel":
        return _cancel(told, store, loop, words, now)
    return _wished(told, store, loop, wish_in(words, loop), now)


def _wished(told: Told, store: PhaseStore | None, loop: PhaseLoop | None, wish: Wish, now: Circumstances) -> Answer:
    if wish.mistake is not None:
        return Context(
            text=f"The person's command cannot be understood: {short_line(wish.mistake)}. Ask what was meant."
        )
    if wish.kind == "begin" and (loop is None or loop.status in FINAL):
        return _note(told, wish, "begin", now)
    if wish.kind == "begin":
        return Context(text=f"Another feature is in progress here: {_under_way(told, loop)}.")
    if store is None or loop is None or loop.status in FINAL:
        return Context(text="There is no loop to go on with: ask the person which feature is to be shipped.")
    return _about(told, store, loop, wish, now)


def _under_way(told: Told, loop: PhaseLoop | None) -> str:
    """Nothing is recorded, because it would begin by itself when this loop is over."""
    where = f"{short_line(loop.feature)}, in {loop.phase} ({loop.status})" if loop is not None else ""
    return f"{where}. `{typed(told)}` goes on with it, `{typed(told)}-cancel` gives it up"


def _about(told: Told, store: PhaseStore, loop: PhaseLoop, wish: Wish, now: Circumstances) -> Answer:
    """Only in the session that drives the loop, or drives it from now on."""
    bound = SessionBound(at=now.at, session_id=told.session_id, take_over=wish.kind == "take-over")
    try:
        store.update(lambda current: advance(current, bound))
    except IllegalEvent:
        how = f"If the person wants it here, the person types `{typed(told)} take-over`."
        return Context(text=f"This loop is driven by another session, which keeps it. {how}")
    match wish.kind:
        case "go on" | "take-over" if loop.status == "stopped":
            return _note(told, wish, "resume", now, about=subject_of("resume", store.path, loop))
        case "go on" | "take-over":
            return Context(
                text=f"This session ({told.session_id}) drives the loop; `ship.py status` says what is next."
            )
        case "approve" if loop.status != "waiting":
            where = f"the loop is in {loop.phase} ({loop.status})"
            return Context(text=f"Nothing waits for the person's approval: {where}.")
        case kind:
            about = wish.text if kind == "accept" else subject_of(kind, store.path, loop)
            return _note(told, wish, kind, now, about=about)


def _note(told: Told, wish: Wish, kind: Kind, now: Circumstances, about: str = "") -> Answer:
    word = Word(
        kind=kind,
        session=told.session_id,
        folder=told.cwd,
        about=about,
        text=wish.text,
        options=wish.options,
        at=now.at,
    )
    try:
        note(word)
    except AotError as error:
        return Context(text=str(error))
    return Context(text=f"{NOTED[kind]} (This session: {told.session_id}.)")


def _cancel(told: Told, store: PhaseStore | None, loop: PhaseLoop | None, words: str, now: Circumstances) -> Answer:
    if store is None or loop is None or loop.status in FINAL:
        return Context(text="There is no loop that could be cancelled.")
    if loop.session_id not in (None, told.session_id) and loop.status != "stopped":
        return Context(
            text="This loop is driven by another session. If the person means that one: `ship.py cancel --reason WHY`."
        )
    cancelled = LoopCancelled(at=now.at, reason=f"user: {short_line(words, 400) or 'cancelled'}")
    store.update(lambda current: advance(current, cancelled))
    from aotloop.app.run.stop import stop_work_of  # noqa: PLC0415 - for this alone the other loop's file is read

    stop_work_of(store.path, loop)
    return Context(text="The loop is cancelled, and nothing begins again by itself. What was made is still there.")
