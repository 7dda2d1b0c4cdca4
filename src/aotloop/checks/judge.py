"""The judge of items that a program cannot decide. It may be an agent or a person; this module does not know which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from aotloop.core.checks.checklist import Leaf
from aotloop.core.model import CheckType
from aotloop.process.cancellation import Cancellation

UNJUDGED: Mapping[CheckType, str] = {
    "quality": "needs a judge",
    "assertion": "needs a judgement and a person's confirmation",
}
"""The evidence for an item if there was no judge to ask."""


class Question(Leaf, frozen=True):
    """A leaf with its unique path of names, also if several leaves have the same name."""

    path: str = ""
    is_moot: bool = False
    """Another check has failed already, so the result of this one cannot change the whole."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool | None
    """None: the judge could not decide."""
    evidence: str
    confirmed: bool = False
    """A person agreed. An assertion never passes without that, even if an agent says yes."""
    scores: dict[str, float] = {}
    """From 1 to 5 by criterion."""


class Judge(Protocol):
    """Called from several threads at once. If it raises an AotError or OSError, the item stays undecided."""

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement: ...


class ConfirmedByPerson:
    """Answers with a person's decisions on items, by path of names; asks another judge about all other items."""

    def __init__(
        self,
        confirmed: Mapping[str, str],
        *,
        rejected: Mapping[str, str] | None = None,
        otherwise: Judge | None = None,
    ) -> None:
        self._confirmed = confirmed
        self._rejected = rejected or {}
        self._otherwise = otherwise

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        if (why := self._rejected.get(leaf.path)) is not None:
            return Judgement(passed=False, evidence=f"a person disagrees: {why}")
        if (confirmation := self._confirmed.get(leaf.path)) is not None:
            return Judgement(passed=True, evidence=f"a person confirmed it: {confirmation}", confirmed=True)
        if self._otherwise is not None:
            return self._otherwise.judge(leaf, cancellation)
        return Judgement(passed=None, evidence=UNJUDGED[leaf.check.type])
