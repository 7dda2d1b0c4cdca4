"""What a failure uses up: an attempt or, when those are spent, an alternative. What was built on it is reset."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from aotloop.core.blame import free_after_switch, give_up, without
from aotloop.core.board import Board
from aotloop.core.conflicts import conflict_set, earlier_than, group_to_switch, untried, ways_around
from aotloop.core.effects import Backtracked, Effect, Exhausted, Retry, WeighAlternatives
from aotloop.core.events import AlternativeSought, AtomFailed, BranchSwitched
from aotloop.core.illegal import illegal
from aotloop.core.model import TrailEntry
from aotloop.core.removal import take_out
from aotloop.core.repairs import forget_rounds, repair_parent, repairs_of
from aotloop.core.tally import something_got_smaller

FEWEST_TO_WEIGH = 2


def fail(board: Board, event: AtomFailed) -> list[Effect]:
    """Recorded in the trail with its reason; the result is deleted; then the first rung of the ladder that is left."""
    atom = board.atoms[event.atom]
    allowed = board.loop.objective.constraints.max_attempts
    attempts = max(atom.attempts + 1, allowed if event.final else 0)
    _record(board, event.atom, event.reason, event.at, attempt=atom.attempts + 1)
    board.loop.bindings.pop(event.atom, None)
    board.put(replace(atom, status="pending", attempts=attempts))
    if attempts >= allowed:
        return go_back(board, event.atom, event.reason, event.at, weigh=event.weigh)
    if event.atom in board.children_of:
        return repair_parent(board, event.atom, event.reason)
    return [Retry(atom=event.atom, attempts=attempts, allowed=allowed)]


def seek_alternative(board: Board, event: AlternativeSought) -> list[Effect]:
    atom = board.atoms.get(event.atom)
    if atom is None or atom.status != "pending" or not (atom.attempts or board.is_exhausted(event.atom)):
        raise illegal(board.loop, event, f"{event.atom} is no atom that failed", event.atom)
    if atom.attempts:
        board.put(replace(atom, attempts=max(atom.attempts, board.loop.objective.constraints.max_attempts)))
    return go_back(board, event.atom, event.reason, event.at)


def rule_out(board: Board, choice: str, reason: str, at: str) -> list[Effect]:
    """A choice that is not selected, and that nobody works on, turns out to be impossible."""
    name = board.group_of.get(choice)
    if name is None or board.loop.or_groups[name].selected == choice:
        return fail(board, AtomFailed(atom=choice, reason=reason, at=at, final=name is not None))
    _record(board, choice, reason, at)
    give_up(board, choice, conflict_set(board, choice))
    something_got_smaller(board.loop)
    return []


def go_back(board: Board, atom_id: str, reason: str, at: str, *, weigh: bool = False) -> list[Effect]:
    """The attempts are spent: another choice, of the latest group that this is owed to and that has one left."""
    own = board.group(atom_id)
    if own is not None and own.selected != atom_id:
        return _leave_race(board, atom_id)
    if atom_id not in board.required:  # if it is again, it is found to be spent
        return []
    rests_on = conflict_set(board, atom_id)
    around = {name: ways for name, ways in ways_around(board, atom_id).items() if name not in rests_on}
    found = _where_to(board, atom_id, rests_on, around)
    if found is None:
        give_up(board, atom_id, rests_on)
        return [Exhausted(atom=atom_id)]
    name, blamed = found
    choices = around[name] if name in around else untried(board, board.loop.or_groups[name])
    if weigh and (unknown := _worth_weighing(board, name, choices)):
        return [WeighAlternatives(atom=atom_id, or_group=name, choices=unknown)]
    choice = cheapest(board, choices)
    switched = BranchSwitched(or_group=name, choice=choice, reason=f"{atom_id} failed: {reason}", at=at)
    is_inside = board.loop.or_groups[name].selected in board.descendants(atom_id)
    if board.group_of.get(atom_id) != name and not is_inside:
        give_up(board, atom_id, rests_on)
    return leave(board, switched, failed=atom_id, blamed=blamed)


def _where_to(
    board: Board, atom_id: str, rests_on: set[str], around: dict[str, list[str]]
) -> tuple[str, set[str]] | None:
    """A choice that failed itself gives way to another one of its group, if there is one; its own parts come first.

    No later group that has nothing to do with its parts is switched before: this one would stay selected, and failed.
    """
    own, names = board.group(atom_id), rests_on.union(around)
    if own is not None and untried(board, own):
        name = board.group_of[atom_id]
        if atom_id not in board.children_of:
            return name, rests_on
        parts = board.descendants(atom_id)
        earlier = {name, *earlier_than(board, name, names)}
        names = {one for one in names if one in earlier or board.loop.or_groups[one].selected in parts}
    return group_to_switch(board, names, around)


def _worth_weighing(board: Board, name: str, choices: list[str]) -> tuple[str, ...]:
    """Choices that nobody has looked at. Commands are not looked at: running them is as cheap."""
    atoms = [board.atoms[one] for one in choices]
    unknown = [one.id for one in atoms if one.findings is None and one.run is None and one.status == "pending"]
    is_race = board.loop.or_groups[name].speculative
    return tuple(unknown) if len(choices) >= FEWEST_TO_WEIGH and not is_race else ()


def cheapest(board: Board, choices: Iterable[str]) -> str:
    """By what probes found; among equals, and without any probe, the first."""

    def cost(choice: str) -> float:
        atom = board.atoms[choice]
        is_known = atom.findings is not None and atom.estimate is not None
        return atom.estimate if is_known and atom.estimate is not None else float("inf")

    return min(choices, key=cost)


def _leave_race(board: Board, racer: str) -> list[Effect]:
    """A racer that was not the selected one: one less; the others run on."""
    give_up(board, racer, conflict_set(board, racer))
    something_got_smaller(board.loop)
    group = board.loop.or_groups[board.group_of[racer]]
    is_given_up = group.selected in group.failed or group.selected in group.blamed
    exhausted = is_given_up and not untried(board, group)
    return [Exhausted(atom=racer)] if exhausted else []


def switch(board: Board, event: BranchSwitched) -> list[Effect]:
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
    if event.choice in group.failed or event.choice in group.blamed:
        raise illegal(loop, event, f"{event.choice} has failed; a correction can force it", event.choice)
    return leave(board, event, failed=group.selected, blamed=set())


def leave(board: Board, event: BranchSwitched, *, failed: str | None, blamed: set[str]) -> list[Effect]:
    """The trail entry comes first, then the switch, then the reset of the left choice and what was built on it.

    The choice that is left has failed for good if what failed is it or a part of it, and rests on no other choice.
    """
    group = board.loop.or_groups[event.or_group]
    left = group.selected
    parts = {left} | board.descendants(left)
    board.loop.trail.append(
        TrailEntry(or_group=event.or_group, selected=event.choice, reason=event.reason, timestamp=event.at)
    )
    affected = parts | board.built_on(parts)  # as long as the left choice is the selected one
    others = earlier_than(board, event.or_group, blamed)
    given_up = without(group, left, others, for_good=failed in parts and not others)
    board.put_group(event.or_group, replace(given_up, selected=event.choice))
    dropped = repairs_of(board, affected)
    resolved = [one for one in affected.union(dropped) if one in board.atoms and board.atoms[one].status == "resolved"]
    reset = _reset(board, affected.difference(dropped))
    free_after_switch(board, event.or_group, event.at)
    something_got_smaller(board.loop)
    forget_rounds(board.loop)
    take_out(board, set(dropped))
    return [
        Backtracked(
            or_group=event.or_group,
            left=left,
            selected=event.choice,
            reset=reset,
            dropped=tuple(dropped),
            undone=tuple(sorted(resolved)),
        )
    ]


def _reset(board: Board, atom_ids: set[str]) -> tuple[str, ...]:
    changed = []
    for atom_id in sorted((one for one in atom_ids if one in board.position), key=lambda one: board.position[one]):
        atom = board.atoms[atom_id]
        if atom.status != "pending" or atom.attempts or atom_id in board.loop.bindings:
            changed.append(atom_id)
            board.put(replace(atom, status="pending", attempts=0))
            board.loop.bindings.pop(atom_id, None)
    return tuple(changed)


def _record(board: Board, atom_id: str, reason: str, at: str, attempt: int | None = None) -> None:
    board.loop.trail.append(
        TrailEntry(
            or_group=board.group_of.get(atom_id),
            reason=reason,
            timestamp=at,
            type="failure",
            atom=atom_id,
            attempt=attempt,
        )
    )
