"""The state of a run beyond the state file: the running work. The loop can continue without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.core.effects import (
    Backtracked,
    CancelAttempt,
    CancelCheck,
    CancelVerification,
    CheckParent,
    Effect,
    Revert,
    Role,
)
from aotloop.core.events import AtomAbandoned, Event
from aotloop.core.graph.board import Board
from aotloop.core.limits import Limits, limits_of
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.core.policy.stop_reasons import is_all_resolved


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    atom: str
    epoch: int
    role: Role
    merges: int
    """The number of merges at the beginning of the attempt. Its work builds on them."""
    summary: str = ""
    artifacts: tuple[str, ...] = ()


class Run:
    def __init__(
        self,
        loop: Loop,
        *,
        overriding: Mapping[str, Any] | None = None,
        first_attempt: int = 1,
        shares_a_tree: bool = False,
    ) -> None:
        """`overriding`: limits of this run that replace those of the file.

        `shares_a_tree`: attempts are made in the project's folder. Only commands that say so are there at once.
        """
        self.shares_a_tree = shares_a_tree
        self.board = Board(loop)
        self._overriding = dict(overriding or {})
        self.next_number = first_attempt
        self.attempts: dict[int, Attempt] = {}
        """Attempts that run, or are finished and not merged. Each holds a slot."""
        self.to_merge: list[int] = []
        self.merging: int | None = None
        self.blocked: dict[int, Attempt] = {}
        """Finished attempts whose merge a person's files blocked. They hold no slot."""
        self.blocked_by: dict[int, str] = {}
        self.waiting: dict[str, str] = {}
        self.waits: dict[str, int] = {}
        self.stuck: dict[str, str] = {}
        self.failed: set[str] = set()
        """Atoms that failed since the last search for hopeless units."""
        self.held: dict[str, int] = {}
        """Failed commands with the number of merges at that time: the same command would fail again."""
        self.sought: set[tuple[str, ...]] = set()
        """Combinations of choices taken since the last start. Each combination is tried once."""
        self.apart: set[frozenset[str]] = set()
        """Pairs of atoms whose changes conflicted."""
        self.merges = 0
        self.members: set[int] = set()
        self.is_open = False
        """A generation is running."""
        self.verifications = 0
        self.verifying: int | None = None
        self.is_verified = False
        """There is a verdict on everything that was merged so far."""
        self.checking: set[str] = set()
        self.to_revert: list[str] = []
        self.reverting = False
        self.has_begun = False
        self.ending: str | None = None
        self.can_be_unblocked = False
        """The run ends only because of an obstacle that a person can still remove."""
        self.finished = False

    @property
    def loop(self) -> Loop:
        return self.board.loop

    @loop.setter
    def loop(self, loop: Loop) -> None:
        """For a loop that another process changed. The report LoopReplaced must follow."""
        self.board = Board(loop)

    @property
    def limits(self) -> Limits:
        agreed = self.loop.objective.constraints
        return limits_of(replace(agreed, **self._overriding) if self._overriding else agreed)

    def advance(self, event: Event) -> list[Effect]:
        """Changes the loop, and records the requests that follow from it."""
        asked = advance(self.loop, event, self.board)
        effects = [effect for effect in asked if not (isinstance(effect, CheckParent) and effect.atom in self.checking)]
        for effect in effects:
            match effect:
                case CheckParent(atom=atom):
                    self.checking.add(atom)
                case Backtracked(undone=undone):  # held commands stay held until the next merge or revert
                    self.to_revert += undone
                case Revert(atoms=undone):
                    self.to_revert += undone
        return [effect for effect in effects if not isinstance(effect, Revert)]  # it waits for its turn

    def take_off(self, number: int) -> Attempt | None:
        """Removes an attempt that has reported. None if it is unknown."""
        attempt = self.attempts.pop(number, None) or self.blocked.pop(number, None)
        self.members.discard(number)
        self.blocked_by.pop(number, None)
        if number in self.to_merge:
            self.to_merge.remove(number)
        if self.merging == number:
            self.merging = None
        return attempt

    def cancel(self, attempt: Attempt, *, discard: bool = True) -> Effect:
        self.take_off(attempt.number)
        atom = self.board.atoms.get(attempt.atom)
        if atom is not None and atom.status == "in_progress":
            self.advance(AtomAbandoned(atom=attempt.atom))
        return CancelAttempt(attempt=attempt.number, atom=attempt.atom, discard=discard)

    def cancel_checks(self) -> list[Effect]:
        """Cancels all running checks."""
        effects: list[Effect] = [CancelCheck(atom=atom) for atom in sorted(self.checking)]
        if self.verifying is not None:
            effects.append(CancelVerification(number=self.verifying))
        self.verifying = None
        self.checking.clear()
        return effects

    def end(self, reason: str, *, is_judged: bool = False, can_be_unblocked: bool = False) -> None:
        """Starts nothing new. The base case is evaluated once more, unless the reason comes from such an evaluation."""
        self.ending = reason
        self.is_verified = is_judged
        self.can_be_unblocked = can_be_unblocked

    def find(self, number: int) -> Attempt | None:
        return self.attempts.get(number) or self.blocked.get(number)

    def all_attempts(self) -> list[Attempt]:
        return [*self.attempts.values(), *self.blocked.values()]

    def is_all_resolved(self) -> bool:
        return is_all_resolved(self.board)

    def is_busy(self) -> bool:
        """Whether some effect is running, so that a report will come."""
        is_judging = bool(self.checking) or self.verifying is not None
        return bool(self.attempts or self.to_merge or self.to_revert) or is_judging or self.reverting
