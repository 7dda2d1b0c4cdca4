"""How choices are given up, and when they may be tried again.

A choice is given up together with the earlier groups that share in the blame: when one of those switches, it is
possible again. Without any, it is given up for good: it has *failed* if the failure was its own, else it stays
*blamed*.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.board import Board
from aotloop.core.conflicts import earlier_than, later_than, untried
from aotloop.core.group_order import group_order
from aotloop.core.model import OrGroup, TrailEntry


def give_up(board: Board, choice: str, rests_on: set[str]) -> None:
    """Nothing is selected instead: there may be nothing else."""
    name = board.group_of.get(choice)
    if name is not None:
        others = earlier_than(board, name, rests_on)
        board.put_group(name, without(board.loop.or_groups[name], choice, others, for_good=not others))


def without(group: OrGroup, choice: str, others: tuple[str, ...], *, for_good: bool) -> OrGroup:
    group = replace(group, won=None) if group.won == choice else group
    if not for_good:
        return replace(group, blamed={**group.blamed, choice: others})
    return group if choice in group.failed else replace(group, failed=(*group.failed, choice))


def free_after_switch(board: Board, switched: str, at: str) -> None:
    """What was given up together with the choice just left may go together with its successor."""
    loop = board.loop
    for name in later_than(board, switched):
        group = loop.or_groups[name]
        kept = {choice: others for choice, others in group.blamed.items() if switched not in others}
        if len(kept) == len(group.blamed):
            continue
        group = replace(group, blamed=kept)
        if (group.selected in group.failed or group.selected in kept) and (free := untried(board, group)):
            loop.trail.append(TrailEntry(or_group=name, selected=free[0], reason="possible again", timestamp=at))
            group = replace(group, selected=free[0])
        board.put_group(name, group)


def free_what_is_out_of_order(board: Board) -> None:
    """Growth may put groups into another order; only earlier ones can share in a blame."""
    order = group_order(board)
    for name, group in list(board.loop.or_groups.items()):
        kept = {
            choice: others
            for choice, others in group.blamed.items()
            if all(other in order and order[other] < order[name] for other in others)
        }
        if len(kept) < len(group.blamed):
            board.put_group(name, replace(group, blamed=kept))
