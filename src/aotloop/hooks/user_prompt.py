"""UserPromptSubmit: a loop belongs to the session in which a person started it. Only a person moves it to another."""

from __future__ import annotations

import msgspec

from aotloop.core.events import SessionBound
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import IllegalEvent
from aotloop.hooks.answers import Answer, Context
from aotloop.hooks.payload import PLUGIN, Payload

COMMAND = "enter-recursion"
AS_SKILL = f"source-command-{COMMAND}"
"""Codex turns a plugin's commands into skills with this name."""
TAKE_OVER = "take-over"
ACCEPT = "accept"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    take_over: bool = False
    accepted: str | None = None
    """The digest of commands that the person was shown."""


def request_in(prompt: str) -> Request | None:
    """The request in the raw prompt: `/aot-loop:enter-recursion take-over`, or with `$`.
    Agents' text does not count.
    """
    words = prompt[:1000].split()
    if not words or words[0][:1] not in ("/", "$"):
        return None
    if words[0][1:].removeprefix(f"{PLUGIN}:") not in (COMMAND, AS_SKILL):
        return None
    accepted = words[2] if words[1:2] == [ACCEPT] and len(words) > 2 else None
    return Request(take_over=TAKE_OVER in words[1:], accepted=accepted)


def decide(payload: Payload, loop: Loop, *, is_run_elsewhere: bool = False) -> Answer:
    asked = request_in(payload.prompt)
    if asked is None or not payload.session_id or payload.agent_type is not None or is_run_elsewhere:
        return Answer()  # the script that enters reports which process runs it, and what to do
    try:
        advance(loop, SessionBound(session_id=payload.session_id, take_over=asked.take_over))
    except IllegalEvent:
        typed = f"/{PLUGIN}:{COMMAND}" if payload.client == "claude" else f"${PLUGIN}:{AS_SKILL}"
        how = f"If the person wants it here, the person types `{typed} {TAKE_OVER}`."
        return Context(text=f"This loop is driven by another session, which keeps it. {how}")
    return Answer()
