"""Failures and their consequences: another attempt, the turn of the next choice, or a switch of an earlier choice.

A choice that fails is replaced by the choice with the fewest failures, and can have a turn again later. An atom without
alternatives is tried again. Limits end a loop; the failures of one atom never do, except for a repair.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from aotloop.core.effects import Effect, Exhausted, Retry
from aotloop.core.events import AlternativeSought, AtomFailed, BranchSwitched
from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import conflict_set, untried
from aotloop.core.graph.units import is_out_of_patience, is_promising, not_tried_here, score
from aotloop.core.handlers.backtracking import begin_round, end_turn, leave
from aotloop.core.handlers.blame import blame_earlier, heed_hints
from aotloop.core.handlers.repairs import repair_parent
from aotloop.core.model import Atom, TrailEntry
from aotloop.core.policy.turns import patience, turn
from aotloop.core.transitions import illegal


def fail(board: Board, event: AtomFailed, *, counts_for: int = 1) -> list[Effect]:
    """Records the failure with its reason, deletes the result, and takes the first step of the ladder that is left."""
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
        probe=event.wants_probe,  # a probe without an answer is not repeated: the work begins
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
    is_another = not board.atoms[event.atom].failures  # it rests on something else now
    return blamed if blamed and (is_another or event.atom not in board.group_of) else blamed + _next_turn(board, event)


def _is_turn_over(board: Board, event: AtomFailed) -> bool:
    return event.final or board.atoms[event.atom].attempts >= turn(board.loop)


def _is_as_before(board: Board, event: AtomFailed) -> bool:
    """Whether the last failure of this atom, if any, had the same evidence."""
    if not board.atoms[event.atom].alike:
        return False
    entries = (entry for entry in reversed(board.loop.trail) if entry.type == "failure" and entry.atom == event.atom)
    last = next(entries, None)
    return last is not None and essence(last.reason) == essence(event.reason)


def _again(board: Board, atom: Atom) -> list[Effect]:
    return [Retry(atom=atom.id, attempts=atom.attempts, allowed=turn(board.loop))]


def _mend(board: Board, event: AtomFailed) -> list[Effect]:
    """Handles repairs, and parents whose own check fails: they get the patience of a choice; then others are blamed."""
    atom, allowed = board.atoms[event.atom], patience(board.loop)
    if atom.attempts < allowed and not event.final:
        if event.atom in board.children_of:
            return repair_parent(board, event.atom, event.reason)
        return [Retry(atom=event.atom, attempts=atom.attempts, allowed=allowed)]
    return give_up(board, event.atom, event.reason, event.at, reopen=not event.final)


def give_up(board: Board, atom_id: str, reason: str, at: str, *, reopen: bool = True) -> list[Effect]:
    """Gives up a repair or a parent: tries its own group, then earlier choices. Without any choice, it is exhausted."""
    if atom_id not in board.required:
        return []
    group = board.group(atom_id)
    if group is not None and untried(board, group):
        return _switch_own(board, atom_id, untried(board, group), reason, at)
    if found := blame_earlier(board, atom_id, reason, at, reopen=reopen):
        return found
    others = [choice for choice in board.unit(atom_id) if choice in board.atoms and choice != atom_id]
    return _switch_own(board, atom_id, others, reason, at) if others else [Exhausted(atom=atom_id)]


def _next_turn(board: Board, event: AtomFailed) -> list[Effect]:
    """Selects the choice with the lowest score. This may be the same choice again."""
    atom, name = board.atoms[event.atom], board.group_of.get(event.atom)
    if name is not None:
        choices = [choice for choice in board.loop.or_groups[name].choices if choice in board.atoms]
        best = min(choices, key=lambda choice: score(board, name, choice))
        if event.final and len(choices) > 1:  # the same attempt would fail again
            best = min(
                (choice for choice in choices if choice != event.atom), key=lambda choice: score(board, name, choice)
            )
        if best != event.atom:
            return _switch_own(board, event.atom, [best], event.reason, event.at)
        if not is_promising(board, best):
            begin_round(board, name)
    board.put(replace(board.atoms[event.atom], attempts=0))
    return [Retry(atom=event.atom, attempts=atom.failures, allowed=turn(board.loop))]


def _switch_own(board: Board, atom_id: str, choices: list[str], reason: str, at: str) -> list[Effect]:
    name = board.group_of[atom_id]
    best = min(choices, key=lambda choice: score(board, name, choice))
    switched = BranchSwitched(or_group=name, choice=best, reason=f"{atom_id} failed: {reason}", at=at)
    return leave(board, switched, failed=atom_id, rests_on=conflict_set(board, atom_id))


def _leave_race(board: Board, racer: Atom) -> list[Effect]:
    """A racer that is not selected has had its turn; the others continue. After the last turn, all start again."""
    end_turn(board, racer.id, conflict_set(board, racer.id))
    name = board.group_of[racer.id]
    group = board.loop.or_groups[name]
    if group.selected in group.failed or group.selected in group.blamed:
        begin_round(board, name)
    return []


def seek_alternative(board: Board, event: AlternativeSought) -> list[Effect]:
    """For an atom that is not repeated as it is: a command that failed while nothing has changed, or a repair."""
    atom = board.atoms.get(event.atom)
    if atom is None or atom.status != "pending" or not (atom.failures or atom.run or board.is_exhausted(event.atom)):
        raise illegal(board.loop, event, f"{event.atom} is no atom that failed", event.atom)
    if board.is_exhausted(event.atom):
        return give_up(board, event.atom, event.reason, event.at, reopen=False)
    group = board.group(event.atom)
    if group is not None and group.selected == event.atom and (others := _worth_another_turn(board, event.atom)):
        return _switch_own(board, event.atom, others, event.reason, event.at)
    found = blame_earlier(board, event.atom, event.reason, event.at, reopen=False)  # no failure, no new round
    return found or [Exhausted(atom=event.atom)]


def _worth_another_turn(board: Board, atom_id: str) -> list[str]:
    """Choices of its group without a turn in this round, and choices done by agents, whose next attempt may differ."""
    group = board.loop.or_groups[board.group_of[atom_id]]
    if left := untried(board, group):
        return left
    others = [
        choice
        for choice in group.choices
        if choice != atom_id and choice in board.atoms and not board.atoms[choice].run
    ]
    return [choice for choice in others if choice not in board.children_of and not board.waits_for(choice)] or others


def rule_against(board: Board, choice: str, reason: str, at: str) -> list[Effect]:
    """A probe says no: this evidence counts as one turn. `choice` is not running."""
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


_TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|m|min|minutes|h|hours)\b")
"""Durations differ each time and say nothing about the failure."""


def essence(reason: str) -> str:
    return " ".join(_TIMES.sub("", reason).split())
