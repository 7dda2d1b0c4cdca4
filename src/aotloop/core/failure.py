"""What a failure leads to: another attempt, or the next choice's turn; at the end of patience, an earlier choice's.

A choice that fails gives way to the one that has failed least, and comes back when it is its turn again. An atom
without alternatives is tried again. Limits end a loop, never a single atom's failures; a repair is the exception.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.backtracking import begin_round, end_turn, leave
from aotloop.core.blame import blame_earlier, heed_hints
from aotloop.core.board import Board
from aotloop.core.conflicts import conflict_set, untried
from aotloop.core.effects import Effect, Exhausted, Retry
from aotloop.core.events import AlternativeSought, AtomFailed, BranchSwitched
from aotloop.core.evidence import essence
from aotloop.core.illegal import illegal
from aotloop.core.model import Atom, TrailEntry
from aotloop.core.repairs import repair_parent
from aotloop.core.turns import patience, turn
from aotloop.core.units import is_out_of_patience, is_promising, not_tried_here, score


def fail(board: Board, event: AtomFailed, *, counts_for: int = 1) -> list[Effect]:
    """Recorded in the trail with its reason; the result is deleted; then the first rung of the ladder that is left."""
    atom = board.atoms[event.atom]
    alike = atom.alike + 1 if _is_as_before(board, event) else 1
    _record(board, event.atom, event.reason, event.at, attempt=atom.failures + 1)
    board.loop.bindings.pop(event.atom, None)
    failed = replace(
        atom,
        status="pending",
        attempts=atom.attempts + counts_for,
        failures=atom.failures + counts_for,
        alike=alike,
        partial=atom.partial or event.progress,
        probe=atom.probe or event.wants_probe,
    )
    board.put(failed)
    if board.is_unselected(event.atom):
        return _leave_race(board, failed) if _is_turn_over(board, event) else _again(board, failed)
    if event.atom not in board.required:
        return []
    return heed_hints(board, event) or _go_on(board, event)


def _go_on(board: Board, event: AtomFailed) -> list[Effect]:
    atom = board.atoms[event.atom]
    if atom.repairs is not None or event.atom in board.children_of:
        return _mend(board, event)
    if not _is_turn_over(board, event):
        return _again(board, atom)
    if not is_out_of_patience(board, event.atom):
        return _next_turn(board, event)
    if left := not_tried_here(board, event.atom):
        return _switch_own(board, event.atom, left, event.reason, event.at)
    blamed = blame_earlier(board, event.atom, event.reason, event.at)
    is_another = not board.atoms[event.atom].failures  # as it rests on something else now
    return blamed if blamed and (is_another or event.atom not in board.group_of) else blamed + _next_turn(board, event)


def _is_turn_over(board: Board, event: AtomFailed) -> bool:
    return event.final or board.atoms[event.atom].attempts >= turn(board.loop)


def _is_as_before(board: Board, event: AtomFailed) -> bool:
    """Whether its last failure, if there is one, had the same evidence."""
    if not board.atoms[event.atom].alike:
        return False
    entries = (one for one in reversed(board.loop.trail) if one.type == "failure" and one.atom == event.atom)
    last = next(entries, None)
    return last is not None and essence(last.reason) == essence(event.reason)


def _again(board: Board, atom: Atom) -> list[Effect]:
    return [Retry(atom=atom.id, attempts=atom.attempts, allowed=turn(board.loop))]


def _mend(board: Board, event: AtomFailed) -> list[Effect]:
    """Of repairs, and of parents whose own check fails: with the patience of a choice, then others are to blame."""
    atom, allowed = board.atoms[event.atom], patience(board.loop)
    if atom.attempts < allowed and not event.final:
        if event.atom in board.children_of:
            return repair_parent(board, event.atom, event.reason)
        return [Retry(atom=event.atom, attempts=atom.attempts, allowed=allowed)]
    return give_up(board, event.atom, event.reason, event.at, reopen=not event.final)


def give_up(board: Board, atom_id: str, reason: str, at: str, *, reopen: bool = True) -> list[Effect]:
    """A repair, or a parent: another choice of its own group, else an earlier one; without any, it is exhausted."""
    if atom_id not in board.required:
        return []
    group = board.group(atom_id)
    if group is not None and untried(board, group):
        return _switch_own(board, atom_id, untried(board, group), reason, at)
    if found := blame_earlier(board, atom_id, reason, at, reopen=reopen):
        return found
    others = [one for one in board.unit(atom_id) if one in board.atoms and one != atom_id]
    return _switch_own(board, atom_id, others, reason, at) if others else [Exhausted(atom=atom_id)]


def _next_turn(board: Board, event: AtomFailed) -> list[Effect]:
    """Of the choice with the least score; that may be the same one again."""
    atom, name = board.atoms[event.atom], board.group_of.get(event.atom)
    if name is not None:
        choices = [one for one in board.loop.or_groups[name].choices if one in board.atoms]
        best = min(choices, key=lambda one: score(board, name, one))
        if event.final and len(choices) > 1:  # the same again would show the same
            best = min((one for one in choices if one != event.atom), key=lambda one: score(board, name, one))
        if best != event.atom:
            return _switch_own(board, event.atom, [best], event.reason, event.at)
        if not is_promising(board, best):
            begin_round(board, name)
    board.put(replace(board.atoms[event.atom], attempts=0))
    return [Retry(atom=event.atom, attempts=atom.failures, allowed=turn(board.loop))]


def _switch_own(board: Board, atom_id: str, choices: list[str], reason: str, at: str) -> list[Effect]:
    name = board.group_of[atom_id]
    best = min(choices, key=lambda one: score(board, name, one))
    switched = BranchSwitched(or_group=name, choice=best, reason=f"{atom_id} failed: {reason}", at=at)
    return leave(board, switched, failed=atom_id, rests_on=conflict_set(board, atom_id))


def _leave_race(board: Board, racer: Atom) -> list[Effect]:
    """A racer that is not the selected one has had its turn; the others run on. If all have had theirs: once more."""
    end_turn(board, racer.id, conflict_set(board, racer.id))
    name = board.group_of[racer.id]
    group = board.loop.or_groups[name]
    if group.selected in group.failed or group.selected in group.blamed:
        begin_round(board, name)
    return []


def seek_alternative(board: Board, event: AlternativeSought) -> list[Effect]:
    """For what is not tried again as it is: a command that failed and for which nothing has changed, or a repair."""
    atom = board.atoms.get(event.atom)
    if atom is None or atom.status != "pending" or not (atom.failures or atom.run or board.is_exhausted(event.atom)):
        raise illegal(board.loop, event, f"{event.atom} is no atom that failed", event.atom)
    if board.is_exhausted(event.atom):
        return give_up(board, event.atom, event.reason, event.at, reopen=False)
    group = board.group(event.atom)
    if group is not None and group.selected == event.atom and (others := _worth_another_turn(board, event.atom)):
        return _switch_own(board, event.atom, others, event.reason, event.at)
    found = blame_earlier(board, event.atom, event.reason, event.at, reopen=False)  # no failure, no other round
    return found or [Exhausted(atom=event.atom)]


def _worth_another_turn(board: Board, atom_id: str) -> list[str]:
    """Of its group: what has not had its turn in this round, and what an agent does, whose next try may differ."""
    group = board.loop.or_groups[board.group_of[atom_id]]
    if left := untried(board, group):
        return left
    others = [one for one in group.choices if one != atom_id and one in board.atoms and not board.atoms[one].run]
    return [one for one in others if one not in board.children_of and not board.waits_for(one)] or others


def rule_against(board: Board, choice: str, reason: str, at: str) -> list[Effect]:
    """A probe says no: evidence that counts as one turn. `choice` is not under way."""
    atom, counted = board.atoms[choice], turn(board.loop)
    _record(board, choice, reason, at)
    board.put(replace(atom, failures=atom.failures + counted))
    return []


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
