"""UserPromptSubmit about shipping: a person continues the loop here, or decides about it.

What the person said is recorded in a place that agents do not use, and the script that acts on it reads it there. A
cancellation needs no script: it happens at once.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.core.phases.events import LoopCancelled, SessionBound
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import FINAL
from aotloop.errors import IllegalEvent
from aotloop.hooks.answers import Answer, Context
from aotloop.hooks.payload import Payload
from aotloop.hooks.phases.typed_commands import Wish, command_in, typed, wish_in
from aotloop.text.shorten import short_line
from aotloop.trust.human_approvals import Kind, Word

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


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from a prompt. The entry does it: the event, then the word, then the answer."""

    answer: Answer = Answer()
    event: SessionBound | LoopCancelled | None = None
    word: Word | None = None
    """The person's word, for the script that acts on it. Without `about`, the entry adds the subject."""

    @property
    def ends_work(self) -> bool:
        """Whether the loop of the feature's work is given up, too."""
        return isinstance(self.event, LoopCancelled)


def decide(payload: Payload, loop: PhaseLoop | None, now: Circumstances) -> Decision:
    """`loop` None: there is none."""
    asked = command_in(payload.prompt)
    if asked is None or not payload.session_id or payload.agent_type is not None:
        return Decision()
    command, words = asked
    if command == "ship-status":
        return Decision()
    if now.is_run_elsewhere:
        return _say("`aot ship` runs this loop in a terminal; what a session does about it does not count.")
    if command == "ship-cancel":
        return _cancel(payload, loop, words, now)
    return _wished(payload, loop, wish_in(words, loop), now)


def moved(loop: PhaseLoop, decision: Decision) -> PhaseLoop:
    return advance(loop, decision.event)[0] if decision.event is not None else loop


def _say(text: str) -> Decision:
    return Decision(answer=Context(text=text))


def _wished(payload: Payload, loop: PhaseLoop | None, wish: Wish, now: Circumstances) -> Decision:
    if wish.mistake is not None:
        return _say(f"The person's command cannot be understood: {short_line(wish.mistake)}. Ask what was meant.")
    if wish.kind == "begin" and (loop is None or loop.status in FINAL):
        return _note(payload, wish, "begin", now)
    if wish.kind == "begin":
        return _say(f"Another feature is in progress here: {_under_way(payload, loop)}.")
    if loop is None or loop.status in FINAL:
        return _say("There is no loop to go on with: ask the person which feature is to be shipped.")
    return _about(payload, loop, wish, now)


def _under_way(payload: Payload, loop: PhaseLoop | None) -> str:
    """Nothing is recorded, because it would begin by itself when this loop is over."""
    where = f"{short_line(loop.feature)}, in {loop.phase} ({loop.status})" if loop is not None else ""
    return f"{where}. `{typed(payload)}` goes on with it, `{typed(payload)}-cancel` gives it up"


def _about(payload: Payload, loop: PhaseLoop, wish: Wish, now: Circumstances) -> Decision:
    """Only in the session that drives the loop, or drives it from now on."""
    bound = SessionBound(at=now.at, session_id=payload.session_id, take_over=wish.kind == "take-over")
    try:
        advance(loop, bound)
    except IllegalEvent:
        how = f"If the person wants it here, the person types `{typed(payload)} take-over`."
        return _say(f"This loop is driven by another session, which keeps it. {how}")
    return replace(_of_driver(payload, loop, wish, now), event=bound)


def _of_driver(payload: Payload, loop: PhaseLoop, wish: Wish, now: Circumstances) -> Decision:
    match wish.kind:
        case "go on" | "take-over" if loop.status == "stopped":
            return _note(payload, wish, "resume", now)
        case "go on" | "take-over":
            return _say(f"This session ({payload.session_id}) drives the loop; `ship.py status` says what is next.")
        case "approve" if loop.status != "waiting":
            return _say(f"Nothing waits for the person's approval: the loop is in {loop.phase} ({loop.status}).")
        case kind:
            return _note(payload, wish, kind, now, about=wish.text if kind == "accept" else "")


def _note(payload: Payload, wish: Wish, kind: Kind, now: Circumstances, about: str = "") -> Decision:
    word = Word(
        kind=kind,
        session=payload.session_id,
        folder=payload.cwd,
        about=about,
        text=wish.text,
        options=wish.options,
        at=now.at,
    )
    return Decision(answer=Context(text=f"{NOTED[kind]} (This session: {payload.session_id}.)"), word=word)


def _cancel(payload: Payload, loop: PhaseLoop | None, words: str, now: Circumstances) -> Decision:
    if loop is None or loop.status in FINAL:
        return _say("There is no loop that could be cancelled.")
    if loop.session_id not in (None, payload.session_id) and loop.status != "stopped":
        return _say(
            "This loop is driven by another session. If the person means that one: `ship.py cancel --reason WHY`."
        )
    return Decision(
        answer=Context(text="The loop is cancelled, and nothing begins again by itself. What was made is still there."),
        event=LoopCancelled(at=now.at, reason=f"user: {short_line(words, 400) or 'cancelled'}"),
    )
