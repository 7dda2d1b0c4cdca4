"""The seam between a run and the place where a commit is checked: an order goes out, findings come back, or do not.

What is checked is what lands: a clean tree of the commit, which no agent can change. A judge decides only on this
machine. tests/execution/checkers.py is the contract in executable form; every checker passes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from aotloop.core.checks.checklist import Node, is_decidable
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.task import JudgeIn
from aotloop.execution.verification import Found, Verification


class CheckOrder(msgspec.Struct, frozen=True, kw_only=True):
    check: Node
    commit: str | None
    """None: the head of the branch."""
    task: str = ""
    """The name of the atom, or of the phase."""
    attempt: int = 0
    epoch: int = 0
    judge: JudgeIn | None = None
    """Decides what no program can decide."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    found: Found
    host: str = ""
    """Empty: this machine."""


class Unchecked(msgspec.Struct, frozen=True, kw_only=True):
    """There are no findings, and the commit is not the cause: another checker has to be asked."""

    reason: str


class Checker(Protocol):
    async def check(self, order: CheckOrder) -> Checked | Unchecked:
        """When this has returned or raised, every process of the check is dead. Cancelling it kills them."""


class LocalChecker:
    def __init__(self, isolation: Isolation, verification: Verification) -> None:
        self._isolation = isolation
        self._verification = verification

    async def check(self, order: CheckOrder) -> Checked:
        async with self._isolation.to_check(order.commit) as clean:
            found = await self._verification.found(
                order.check, clean.cwd, order.judge, clean.confinement, clean.observation
            )
        return Checked(found=found)


class Checks:
    """Elsewhere where that is possible, else here: no commit stays unchecked."""

    def __init__(
        self, here: LocalChecker, elsewhere: Checker | None = None, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self._here = here
        self._elsewhere = elsewhere
        self._say = say
        self._said: set[str] = set()

    async def check(self, order: CheckOrder) -> Checked:
        if self._elsewhere is not None and order.commit is not None and is_decidable(order.check):
            checked = await self._elsewhere.check(order)
            if isinstance(checked, Checked):
                return checked
            if checked.reason not in self._said:  # it would be the same at each merge
                self._said.add(checked.reason)
                self._say(f"checks run on this machine: {checked.reason}")
        return await self._here.check(order)
