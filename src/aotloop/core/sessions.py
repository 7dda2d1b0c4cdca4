"""Which session drives a loop: one at a time, and only while the loop runs."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.effects import Effect
from aotloop.core.events import SessionBound
from aotloop.core.illegal import illegal
from aotloop.core.model import Control


def holding_session(control: Control) -> str | None:
    """The session that drives the loop now. A binding that outlived its loop's run holds nothing."""
    return control.session_id if control.status == "running" else None


def bind(board: Board, event: SessionBound) -> list[Effect]:
    control = board.loop.control
    holder = holding_session(control)
    if holder not in (None, event.session_id) and not event.take_over:
        raise illegal(board.loop, event, f"the session {holder} drives it")
    if control.session_id != event.session_id:
        board.loop.control = replace(control, session_id=event.session_id)
    return []
