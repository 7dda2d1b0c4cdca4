"""What a run knows beyond the state file: what is under way. All of it can be lost; the loop goes on without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.core.board import Board
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
from aotloop.core.endings import is_all_resolved
from aotloop.core.events import AtomAbandoned, Event
from aotloop.core.limits import Limits, limits_of
from aotloop.core.machine import advance
from aotloop.core.model import Loop


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    atom: str
    epoch: int
    role: Role
    merges: int
    """How many merges there had been when it began: what it builds on."""
    summary: str = ""
    artifacts: tuple[str, ...] = ()


class Run:
    def __init__(self, loop: Loop, *, overriding: Mapping[str, Any] | None = None, first_attempt: int = 1) -> None:
        """`overriding`: limits that hold for this run instead of the file's."""
        self.board = Board(loop)
        self._overriding = dict(overriding or {})
        self.next_number = first_attempt
        self.attempts: dict[int, Attempt] = {}
        """Under way or finished and not merged: each holds a slot."""
        self.to_merge: list[int] = []
        self.merging: int | None = None
        self.blocked: dict[int, Attempt] = {}
        """Finished, and once kept from being merged by something of a person's: they hold no slot."""
        self.blocked_by: dict[int, str] = {}
        self.waiting: dict[str, str] = {}
        self.waits: dict[str, int] = {}
        self.stuck: dict[str, str] = {}
        self.failed: set[str] = set()
        """Atoms that failed since it was last looked at what is hopeless."""
        self.held: dict[str, int] = {}
        """Commands that failed, and after how many merges: the same again would fail the same way."""
        self.sought: set[tuple[str, ...]] = set()
        """Combinations of choices that were taken since something started last: each is looked at once."""
        self.apart: set[frozenset[str]] = set()
        """Pairs of atoms whose changes conflicted."""
        self.merges = 0
        self.members: set[int] = set()
        self.is_open = False
        """A generation is under way."""
        self.verifications = 0
        self.verifying: int | None = None
        self.is_verified = False
        """There is a verdict on what has been merged so far."""
        self.checking: set[str] = set()
        self.to_revert: list[str] = []
        self.reverting = False
        self.has_begun = False
        self.ending: str | None = None
        self.can_be_unblocked = False
        """It ends only for want of something that a person can still clear away."""
        self.finished = False

    @property
    def loop(self) -> Loop:
        return self.board.loop

    @loop.setter
    def loop(self, loop: Loop) -> None:
        """For what others made of it; to be followed by the report LoopReplaced."""
        self.board = Board(loop)

    @property
    def limits(self) -> Limits:
        agreed = self.loop.objective.constraints
        return limits_of(replace(agreed, **self._overriding) if self._overriding else agreed)

    def advance(self, event: Event) -> list[Effect]:
        """Changes the loop, and takes note of what that asks for."""
        asked = advance(self.loop, event, self.board)
        effects = [one for one in asked if not (isinstance(one, CheckParent) and one.atom in self.checking)]
        for effect in effects:
            match effect:
                case CheckParent(atom=atom):
                    self.checking.add(atom)
                case Backtracked(undone=undone):  # what is held stays so until something is merged or taken back
                    self.to_revert += undone
                case Revert(atoms=undone):
                    self.to_revert += undone
        return [effect for effect in effects if not isinstance(effect, Revert)]  # it has to wait for its turn

    def take_off(self, number: int) -> Attempt | None:
        """Forgets an attempt that has reported; None if it is not known."""
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
        """What is being judged, is judged no longer."""
        effects: list[Effect] = [CancelCheck(atom=atom) for atom in sorted(self.checking)]
        if self.verifying is not None:
            effects.append(CancelVerification(number=self.verifying))
        self.verifying = None
        self.checking.clear()
        return effects

    def end(self, reason: str, *, is_judged: bool = False, can_be_unblocked: bool = False) -> None:
        """Nothing new is started; the base case is tried once more, unless that is what the reason comes from."""
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
        """Whether some effect is under way, so that a report will come."""
        is_judging = bool(self.checking) or self.verifying is not None
        return bool(self.attempts or self.to_merge or self.to_revert) or is_judging or self.reverting
