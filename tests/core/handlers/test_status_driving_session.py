"""One session drives a loop at a time, and a binding holds only while the loop runs."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aotloop.core.events import SessionBound
from aotloop.core.handlers.status import holding_session
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import IllegalEvent
from tests.loops import a_loop, atom


def bound(session: str | None, status: str = "running") -> Loop:
    loop = a_loop(atom("A1"), status=status)
    loop.control = replace(loop.control, session_id=session)
    return loop


@pytest.mark.parametrize("status", ["pending", "stopped", "completed"])
def test_a_binding_of_a_loop_that_does_not_run_holds_nothing(status: str) -> None:
    loop = bound("old", status)
    assert holding_session(loop.control) is None
    advance(loop, SessionBound(session_id="new"))
    assert loop.control.session_id == "new"


def test_a_running_loop_stays_with_its_session() -> None:
    loop = bound("old")
    with pytest.raises(IllegalEvent, match="the session old drives it"):
        advance(loop, SessionBound(session_id="new"))
    assert loop.control.session_id == "old"
    advance(loop, SessionBound(session_id="old"))
    advance(loop, SessionBound(session_id="new", take_over=True))
    assert holding_session(loop.control) == "new"


def test_a_running_loop_without_a_session_is_free() -> None:
    loop = bound(None)
    assert advance(loop, SessionBound(session_id="new")) == []
    assert loop.control.session_id == "new"
