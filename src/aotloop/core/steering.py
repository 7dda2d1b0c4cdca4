"""What whoever coordinates the loop in a session was told when it wanted to end, and whether anything came of it."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.effects import Effect
from aotloop.core.events import Steered
from aotloop.core.model import Steering


def steer(board: Board, event: Steered) -> list[Effect]:
    control = board.loop.control
    before = control.steering.sent_back if event.is_in_vain else 0
    steering = Steering(mark=event.mark, sent_back=before + 1 if event.is_sent_back else 0, asked=event.asked)
    board.loop.control = replace(control, steering=steering)
    return []
