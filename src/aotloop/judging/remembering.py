"""The same files are judged once: what an agent found is kept, and nothing is gained by asking again."""

from __future__ import annotations

from aotloop.judging.cases import Case
from aotloop.judging.keys import key_of
from aotloop.trust import judgements, votes
from aotloop.verify.cancellation import Cancellation
from aotloop.verify.judge import NOBODY_ASKED, Judge, Judgement, Question


class Remembering:
    """Asks another judge, if there is one, only about what is not known yet and decides something."""

    def __init__(self, case: Case, *, votes: int, otherwise: Judge | None = None, hint: str | None = None) -> None:
        """`hint`: how somebody would be asked, where nobody is."""
        self._case = case
        self._votes = votes
        self._otherwise = otherwise
        self._hint = hint

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        if self._otherwise is None and not judgements.is_anything_kept():
            return self._not_asked(leaf)  # without a look at the files
        key = key_of(self._case, leaf, votes=self._votes)
        if (known := judgements.recall(key)) is not None:
            return Judgement(
                passed=known.passed, evidence=f"{known.evidence} (judged at {known.at})", scores=known.scores
            )
        if self._otherwise is None:
            return self._not_asked(leaf)
        if leaf.is_moot:
            return Judgement(passed=None, evidence="not judged, since something else does not hold")
        found = self._otherwise.judge(leaf, cancellation)
        if found.passed is not None:
            judgements.remember(key, passed=found.passed, evidence=found.evidence, scores=found.scores, item=leaf.path)
            votes.forget(key)
        return found

    def _not_asked(self, leaf: Question) -> Judgement:
        needed = NOBODY_ASKED[leaf.check.type]
        return Judgement(passed=None, evidence=f"{needed}; {self._hint}" if self._hint is not None else needed)
