"""All is resolved and the base case fails: repairs, for a bounded number of rounds, then another choice."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.blame import blame_any
from aotloop.core.board import Board
from aotloop.core.effects import Effect, Exhausted
from aotloop.core.events import BaseCaseFailed
from aotloop.core.illegal import illegal
from aotloop.core.repairs import repair_items
from aotloop.core.turns import patience


def repair_base_case(board: Board, event: BaseCaseFailed) -> list[Effect]:
    verdict = board.loop.control.verdict
    if verdict is None or verdict.passed or not event.failing:
        raise illegal(None, event, "no verdict with failing items is recorded")
    if waiting := board.unresolved():
        raise illegal(None, event, f"not resolved yet: {', '.join(waiting[:10])}")
    rounds, allowed = verdict.repair_rounds, patience(board.loop)
    if spent := [item for item in event.failing if rounds.get(item, 0) >= allowed]:
        reason = f"the base case fails after {allowed} rounds of repair: {', '.join(spent)}"
        return blame_any(board, reason, event.at) or [Exhausted(atom=None)]
    counted = {**rounds, **{item: rounds.get(item, 0) + 1 for item in event.failing}}
    board.loop.control = replace(board.loop.control, verdict=replace(verdict, repair_rounds=counted))
    return repair_items(board, event.failing, event.at)
