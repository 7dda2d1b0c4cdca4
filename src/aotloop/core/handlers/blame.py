"""Blame: when an earlier choice switches. A failing atom names it in a credible way, or patience ends.

This is the conflict-directed step. Of the groups that a failing atom rests on, or that could avoid it, the latest group
with a choice left in this round switches. If no group has one left, all of them begin another round. So no combination
is lost.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import Effect, Exhausted
from aotloop.core.events import AtomFailed, BaseCaseFailed, BranchSwitched
from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import conflict_set, group_to_switch, untried, ways_around
from aotloop.core.graph.units import failures_of_unit, score
from aotloop.core.handlers.backtracking import begin_round, leave
from aotloop.core.handlers.repairs import repair_items
from aotloop.core.model import OrGroup
from aotloop.core.policy import turns
from aotloop.core.policy.turns import patience
from aotloop.core.transitions import illegal


def heed_hints(board: Board, event: AtomFailed) -> list[Effect]:
    """A hint may be wrong. The first one counts if it is credible; else the second that names the same choice."""
    named = _named(board, event)
    rests_on = conflict_set(board, event.atom) if named else set()  # before a repair is dropped with its target
    speaker = board.atoms[event.atom].repairs or event.atom
    effects: list[Effect] = []
    for name in named:
        group = board.loop.or_groups[name]
        before = group.hints.get(group.selected, ())
        others = [choice for choice in group.choices if choice in board.atoms and choice != group.selected]
        if group.blames.get(group.selected) and _has_own_way(board, event.atom):
            continue
        if before or _is_credible(board, event.atom, group, others):
            effects += _switch(board, name, others, event.atom, event.reason, event.at, rests_on)
        else:
            hints = {**group.hints, group.selected: (*before, speaker)}
            board.put_group(name, replace(group, hints=hints))
    return effects


def _has_own_way(board: Board, failing: str) -> bool:
    """An alternative to this atom that was not tried in this round. A choice that came back meets that one first.

    Else two atoms could go round for ever: the choice is left because of one atom, and never meets its alternative.
    """
    own = board.group(failing)
    return own is not None and bool(untried(board, own))


def _is_credible(board: Board, failing: str, group: OrGroup, others: list[str]) -> bool:
    """Whether to switch at once: one of the others was never blamed, and the atom failed too often for bad luck."""
    is_any_innocent = not all(group.blames.get(choice, 0) for choice in others)
    return is_any_innocent and failures_of_unit(board, failing) >= turns.HINT * turns.usual(board.loop)


def _named(board: Board, event: AtomFailed) -> list[str]:
    """Groups whose selected choice contains an atom that blocks this one in the agent's
    opinion. It must rest on them.
    """
    if not event.because_of:
        return []
    rests_on = conflict_set(board, event.atom) - {board.group_of.get(event.atom)}
    names = [name for blocker in event.because_of if blocker in board.atoms for name in _groups_around(board, blocker)]
    return [name for name in dict.fromkeys(names) if name in rests_on and _has_others(board, name)]


def _groups_around(board: Board, atom_id: str) -> list[str]:
    """The groups whose selected choice contains this atom: its own group, otherwise those of its parents."""
    open_ids, found = [atom_id], list[str]()
    for current in open_ids:  # the list grows during the walk
        group = board.group(current)
        if group is None:
            open_ids += [parent for parent in board.parents_of_unit(current) if parent not in open_ids]
        elif group.selected == current:
            found.append(board.group_of[current])
    return found


def blame_earlier(board: Board, failing: str, reason: str, at: str, *, reopen: bool = True) -> list[Effect]:
    """Blames an earlier choice for an atom that fails for longer than bad luck explains."""
    own = board.group_of.get(failing)
    rests_on = {name for name in conflict_set(board, failing) if name != own and _has_others(board, name)}
    return _leave_latest(board, rests_on, failing, reason, at, reopen=reopen)


def blame_any(board: Board, reason: str, at: str) -> list[Effect]:
    """Blames any choice, because the base case fails after all repairs."""
    names = {
        name
        for name, group in board.loop.or_groups.items()
        if group.selected in board.required and _has_others(board, name)
    }
    return _leave_latest(board, names, None, reason, at, reopen=True)


def _leave_latest(
    board: Board, rests_on: set[str], failing: str | None, reason: str, at: str, *, reopen: bool
) -> list[Effect]:
    found = _latest(board, rests_on, failing)
    if found is None and reopen:
        for name in rests_on.union(ways_around(board, failing) if failing is not None else ()):
            begin_round(board, name)
        found = _latest(board, rests_on, failing)
    if found is None:
        return []
    name, blamed, choices = found
    return _switch(board, name, choices, failing, reason, at, blamed)


def _latest(board: Board, rests_on: set[str], failing: str | None) -> tuple[str, set[str], list[str]] | None:
    own = board.group_of.get(failing) if failing is not None else None
    around = ways_around(board, failing) if failing is not None else {}
    around = {name: ways for name, ways in around.items() if name not in rests_on}
    found = group_to_switch(board, rests_on.union(around), around)
    if found is None or found[0] == own:
        return None
    name, blamed = found
    return name, blamed, around[name] if name in around else untried(board, board.loop.or_groups[name])


def _switch(
    board: Board, name: str, choices: list[str], failing: str | None, reason: str, at: str, rests_on: set[str]
) -> list[Effect]:
    best = min(choices, key=lambda choice: score(board, name, choice))
    cause = f"{failing or 'the base case'} failed: {reason}"
    switched = BranchSwitched(or_group=name, choice=best, reason=cause, at=at)
    return leave(board, switched, failed=failing, rests_on=rests_on, is_blamed=True)


def _has_others(board: Board, name: str) -> bool:
    return sum(choice in board.atoms for choice in board.loop.or_groups[name].choices) > 1


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
