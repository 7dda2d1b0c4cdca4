"""What there is to do in a loop that nobody works on at the moment."""

from __future__ import annotations

from itertools import islice

import msgspec

from aotloop.core.board import Board
from aotloop.hooks.words import MOST_NAMED


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    ready: tuple[str, ...]
    """Best first; not more than can be told."""
    left_in_progress: tuple[str, ...]
    to_check: tuple[str, ...]
    """Decomposed, all parts resolved: only their check stands in the way."""

    @property
    def is_empty(self) -> bool:
        return not (self.ready or self.left_in_progress or self.to_check)


def outlook(board: Board) -> Outlook:
    pending = [
        one
        for one in board.children_of
        if one in board.atoms and board.atoms[one].status == "pending" and one in board.required
    ]
    return Outlook(
        ready=tuple(islice(board.best_ready(), MOST_NAMED)),
        left_in_progress=tuple(one.id for one in board.loop.atoms if one.status == "in_progress"),
        to_check=tuple(one for one in pending if not board.waits_for(one) and not board.is_exhausted(one)),
    )
