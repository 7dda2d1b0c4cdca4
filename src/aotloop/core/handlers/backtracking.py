"""Backtracking: how a group leaves its choice, with the trail entry, the switch, and the reset of dependent work.

No choice is left for good. A choice that is left has *failed* in this round (it had its turn), or it is *blamed*
together with the earlier groups that share the blame. When one of those groups switches, the choice may be taken again
at once. When a group takes a choice that already had its turn, a new round begins.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import BranchSwitched
from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import earlier_than, group_order, later_than
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.handlers.parents import settle_parent
from aotloop.core.handlers.probes import probe_if_it_pays
from aotloop.core.handlers.repairs import forget_rounds, has_contributed, repairs_of
from aotloop.core.model import OrGroup, TrailEntry
from aotloop.core.policy.progress import something_got_smaller
from aotloop.core.transitions import illegal


def switch(board: Board, event: BranchSwitched) -> list[Effect]:
    """A switch that was requested from outside: the selected choice has had its turn."""
    loop = board.loop
    group = loop.or_groups.get(event.or_group)
    if group is None:
        known = ", ".join(loop.or_groups) or "none"
        raise illegal(None, event, f"there is no group {event.or_group}; there are: {known}")
    if event.choice not in group.choices:
        raise illegal(None, event, f"{event.choice} is no choice of {event.or_group}: {', '.join(group.choices)}")
    if event.choice not in board.atoms:
        raise illegal(None, event, f"{event.choice} is not an atom yet; add it first")
    if event.choice == group.selected:
        raise illegal(None, event, f"{event.choice} is selected already")
    return leave(board, event, failed=group.selected, rests_on=set())


def leave(
    board: Board, event: BranchSwitched, *, failed: str | None, rests_on: set[str], is_blamed: bool = False
) -> list[Effect]:
    """`failed` rests on these groups. `is_blamed`: the choice is left because of the work built on it."""
    _take(board, event.or_group, event.choice)
    group = board.loop.or_groups[event.or_group]
    left = group.selected
    parts = {left} | board.descendants(left)
    board.loop.trail.append(
        TrailEntry(or_group=event.or_group, selected=event.choice, reason=event.reason, timestamp=event.at)
    )
    affected = parts | board.built_on(parts)  # computed while the old choice is still selected
    others = earlier_than(board, event.or_group, rests_on)
    group = given_up(group, left, others, for_good=failed in parts and not others)
    if is_blamed:
        group = replace(group, blames={**group.blames, left: group.blames.get(left, 0) + 1})
    board.put_group(event.or_group, replace(group, selected=event.choice))
    dropped = repairs_of(board, affected)
    resolved = [
        atom_id
        for atom_id in affected.union(dropped)
        if atom_id in board.atoms and has_contributed(board.atoms[atom_id])
    ]
    reset = _reset(board, affected.difference(dropped), keeping=set(group.choices))
    _free_after_switch(board, event.or_group)
    forget_rounds(board.loop)
    take_out(board, set(dropped))
    probe_if_it_pays(board, event.choice)
    return [
        Backtracked(
            or_group=event.or_group,
            left=left,
            selected=event.choice,
            reset=reset,
            dropped=tuple(dropped),
            undone=tuple(sorted(resolved)),
        ),
        *settle_parent(board, event.choice),  # all its parts may be resolved, because other atoms need them too
    ]


def _take(board: Board, name: str, choice: str) -> None:
    """Takes a choice. If it already had its turn, a new round begins. If it never had a turn, that is progress."""
    group = board.loop.or_groups[name]
    if choice in group.failed or choice in group.blamed:
        begin_round(board, name)
    note_selected(board, name, choice)


def note_selected(board: Board, name: str, choice: str) -> None:
    group = board.loop.or_groups[name]
    if choice not in group.seen and choice != group.choices[0]:
        something_got_smaller(board.loop)
        board.put_group(name, replace(group, seen=(*group.seen, choice)))


def begin_round(board: Board, name: str) -> None:
    """Allows every choice of the group another turn."""
    group = board.loop.or_groups[name]
    board.put_group(name, replace(group, failed=(), blamed={}, round=group.round + 1))
    for choice in group.choices:
        atom = board.atoms.get(choice)
        if atom is not None and atom.attempts and choice not in board.children_of:
            board.put(replace(atom, attempts=0))


def end_turn(board: Board, choice: str, rests_on: set[str]) -> None:
    """Ends a turn without a new selection: other choices run at the same time, or there is no other choice."""
    name = board.group_of[choice]
    others = earlier_than(board, name, rests_on)
    board.put_group(name, given_up(board.loop.or_groups[name], choice, others, for_good=not others))


def given_up(group: OrGroup, choice: str, others: tuple[str, ...], *, for_good: bool) -> OrGroup:
    """The group after it gave up a choice in this round. `others` share the blame."""
    hints = {name: atoms for name, atoms in group.hints.items() if name != choice}
    group = replace(group, hints=hints, won=None if group.won == choice else group.won)
    if not for_good:
        return replace(group, blamed={**group.blamed, choice: others})
    return group if choice in group.failed else replace(group, failed=(*group.failed, choice))


def _reset(board: Board, atom_ids: set[str], *, keeping: set[str]) -> tuple[str, ...]:
    """Resets atoms. They now rest on something else, so their failures no longer count, except those of `keeping`.

    The number of equal failures stays: an atom that fails in the same way on every choice is itself at fault.
    """
    changed = []
    for atom_id in sorted(
        (affected for affected in atom_ids if affected in board.position), key=lambda affected: board.position[affected]
    ):
        atom = board.atoms[atom_id]
        fresh = replace(atom, status="pending", attempts=0, reopened=False)
        if atom_id not in keeping:
            fresh = replace(fresh, failures=0, partial=False)
        if fresh != atom or atom_id in board.loop.bindings:
            changed.append(atom_id)
            board.put(fresh)
            board.loop.bindings.pop(atom_id, None)
    return tuple(changed)


def _free_after_switch(board: Board, switched: str) -> None:
    """Choices that were given up together with the choice just left are possible again with its successor."""
    loop = board.loop
    for name in later_than(board, switched):
        group = loop.or_groups[name]
        kept = {choice: others for choice, others in group.blamed.items() if switched not in others}
        if len(kept) == len(group.blamed):
            continue
        board.put_group(name, replace(group, blamed=kept))


def free_what_is_out_of_order(board: Board) -> None:
    """Growth may change the order of groups, and only earlier groups can share a blame."""
    order = group_order(board)
    for name, group in list(board.loop.or_groups.items()):
        kept = {
            choice: others
            for choice, others in group.blamed.items()
            if all(other in order and order[other] < order[name] for other in others)
        }
        if len(kept) < len(group.blamed):
            board.put_group(name, replace(group, blamed=kept))
