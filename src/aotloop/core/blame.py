"""When an earlier choice is to blame: if it is named twice by what fails on it, or if patience is at its end.

The conflict-directed step: of the groups that a failing atom rests on, or could be avoided by, the latest with a choice
left in this round switches. If none has one left, all of them begin another round. So no combination is lost.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.backtracking import begin_round, leave
from aotloop.core.board import Board
from aotloop.core.conflicts import conflict_set, group_to_switch, untried, ways_around
from aotloop.core.effects import Effect
from aotloop.core.events import AtomFailed, BranchSwitched
from aotloop.core.units import score


def heed_hints(board: Board, event: AtomFailed) -> list[Effect]:
    """A hint may be wrong, and one that is obeyed at once costs much then: the second time the same is said counts,
    whichever atom says it.
    """
    named = _named(board, event)
    rests_on = conflict_set(board, event.atom) if named else set()  # before a repair is dropped with what it mends
    speaker = board.atoms[event.atom].repairs or event.atom
    effects: list[Effect] = []
    for name in named:
        group = board.loop.or_groups[name]
        before = group.hints.get(group.selected, ())
        if before:
            others = [one for one in group.choices if one in board.atoms and one != group.selected]
            effects += _switch(board, name, others, event.atom, event.reason, event.at, rests_on)
        else:
            hints = {**group.hints, group.selected: (*before, speaker)}
            board.put_group(name, replace(group, hints=hints))
    return effects


def _named(board: Board, event: AtomFailed) -> list[str]:
    """Groups whose selected choice, or a part of it, is in the way as the agent sees it; the atom must rest on it."""
    if not event.because_of:
        return []
    rests_on = conflict_set(board, event.atom) - {board.group_of.get(event.atom)}
    names = [name for one in event.because_of if one in board.atoms for name in _groups_around(board, one)]
    return [name for name in dict.fromkeys(names) if name in rests_on and _has_others(board, name)]


def _groups_around(board: Board, atom_id: str) -> list[str]:
    """The groups by whose selected choice this atom is there: its own, else those of what it is a part of."""
    open_ids, found = [atom_id], list[str]()
    for one in open_ids:  # grows while we walk it
        group = board.group(one)
        if group is None:
            open_ids += [parent for parent in board.parents_of_unit(one) if parent not in open_ids]
        elif group.selected == one:
            found.append(board.group_of[one])
    return found


def blame_earlier(board: Board, failing: str, reason: str, at: str, *, reopen: bool = True) -> list[Effect]:
    """For an atom that fails for longer than bad luck explains."""
    own = board.group_of.get(failing)
    rests_on = {name for name in conflict_set(board, failing) if name != own and _has_others(board, name)}
    return _leave_latest(board, rests_on, failing, reason, at, reopen=reopen)


def blame_any(board: Board, reason: str, at: str) -> list[Effect]:
    """The base case fails, whatever is repaired: any choice may be to blame."""
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
    best = min(choices, key=lambda one: score(board, name, one))
    said = f"{failing or 'the base case'} failed: {reason}"
    switched = BranchSwitched(or_group=name, choice=best, reason=said, at=at)
    return leave(board, switched, failed=failing, rests_on=rests_on, is_blamed=True)


def _has_others(board: Board, name: str) -> bool:
    return sum(one in board.atoms for one in board.loop.or_groups[name].choices) > 1
