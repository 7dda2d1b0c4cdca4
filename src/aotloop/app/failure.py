"""Records a failed attempt, or what a probe found, and says what follows: the machine decides as in a run.

| `next`          | it means                                                                              |
| --------------- | ------------------------------------------------------------------------------------- |
| `retry`         | the same atom is tried again, now or when it is its turn                               |
| `switch`        | a choice had its turn, or was named as being in the way: `selected` takes its place    |
| `repair`        | the check of a parent fails: an atom is there that must repair it                       |
| `go on`         | nothing follows: a probe found a way, or nothing requires the atom any more            |
| `other choices` | other alternatives of its group run at the same time                                  |
| `exhausted`     | nothing is left to try for it                                                         |
| `blocked`       | every choice failed in the same way too often: a person is needed                     |
| `limit`         | no attempts are left                                                                  |
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.app.loops import refuse_while_run
from aotloop.clock import now
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Effect, Exhausted, Retry
from aotloop.core.graph.board import Board
from aotloop.core.machine import advance
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.policy.stop_reasons import hopeless
from aotloop.core.policy.turns import turn
from aotloop.statefile.store import Store


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """`because_of`: atoms whose results are in the way. `progress`: part of the work is there, and holds."""

    reason: str
    because_of: tuple[str, ...] = ()
    progress: bool = False
    wants_probe: bool = False
    ends_turn: bool | None = None
    """None: it does where a command did the work, because the command would fail again."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    next: str
    turn: int
    """Failures in a row that end a turn."""
    attempts_left: int
    """Of the whole loop."""
    attempts: int | None = None
    """Failures of this atom in its turn, `failures` those of earlier turns included."""
    max_attempts: int | None = None
    failures: int | None = None
    round: int | None = None
    or_group: str | None = None
    left: str | None = None
    selected: str | None = None
    reset: tuple[str, ...] | None = None
    undone: tuple[str, ...] | None = None
    repair: str | None = None
    blocked: str | None = None
    effects: tuple[Effect, ...] = ()
    """What the machine answered."""

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.to_builtins(replace(self, effects=()))
        return data


def fail_atom(store: Store, atom_id: str, failure: Failure) -> Outcome:
    def change(loop: Loop) -> Outcome:
        is_command = any(atom.id == atom_id and atom.run is not None for atom in loop.atoms)
        event = events.AtomFailed(
            atom=atom_id,
            reason=failure.reason,
            at=now(),
            final=is_command if failure.ends_turn is None else failure.ends_turn,
            because_of=failure.because_of,
            progress=failure.progress,
            wants_probe=failure.wants_probe,
        )
        return _outcome(loop, atom_id, advance(loop, event))

    refuse_while_run(store)
    return store.update(change)


def record_probe(store: Store, atom_id: str, *, feasible: bool, findings: str, estimate: float | None) -> Outcome:
    """Evidence, not a verdict: a "no" counts as one turn that led nowhere."""

    def change(loop: Loop) -> Outcome:
        found = events.AtomProbed(atom=atom_id, feasible=feasible, findings=findings, estimate=estimate, at=now())
        effects = advance(loop, found)
        return _outcome(loop, atom_id, effects)

    refuse_while_run(store)
    return store.update(change)


def _outcome(loop: Loop, atom_id: str, effects: list[Effect]) -> Outcome:
    board = Board(loop, is_for_once=True)
    atom, group = board.atoms.get(atom_id), board.group(atom_id)
    is_racing = group is not None and group.speculative and board.is_unselected(atom_id)
    outcome = Outcome(
        next="other choices" if is_racing else "go on",
        turn=turn(loop),
        attempts_left=attempts_left(loop),
        attempts=atom.attempts if atom is not None else None,
        failures=atom.failures if atom is not None else None,
        round=group.round if group is not None else None,
        effects=tuple(effects),
    )
    for effect in effects:
        outcome = _followed(outcome, effect)
    if (why := hopeless(board, atom_id)) is not None:
        return replace(outcome, next="blocked", blocked=f"blocked: {why}")
    return outcome if outcome.attempts_left else replace(outcome, next="limit")


def _followed(outcome: Outcome, effect: Effect) -> Outcome:
    match effect:
        case Retry(allowed=allowed):
            return replace(outcome, next="retry", max_attempts=allowed)
        case Backtracked():
            return replace(
                outcome,
                next="switch",
                or_group=effect.or_group,
                left=effect.left,
                selected=effect.selected,
                reset=effect.reset,
                undone=(*(outcome.undone or ()), *effect.undone),
            )
        case Added(atoms=atoms):
            return replace(outcome, next="repair", repair=atoms[0])
        case Exhausted():
            return replace(outcome, next="exhausted")
        case _:
            return outcome
