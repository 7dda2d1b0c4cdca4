"""What a program cannot decide is asked of a `Judge`; who that is (an agent, a person) is not known here."""

from __future__ import annotations

from typing import Protocol

import msgspec

from aotloop.core.checklist import Leaf
from aotloop.verify.cancellation import Cancellation


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool | None
    """None: the judge could not decide."""
    evidence: str
    confirmed: bool = False
    """A person agreed. Without that an assertion never passes, whatever an agent says."""
    scores: dict[str, float] = {}
    """From 1 to 5 by criterion."""


class Judge(Protocol):
    """Called from several threads at once. If it raises an AotError, the item stays undecided."""

    def judge(self, leaf: Leaf, cancellation: Cancellation) -> Judgement: ...
