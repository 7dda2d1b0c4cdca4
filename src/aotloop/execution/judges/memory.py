"""The memory of judges: the same question about the same files is asked once, and its answer is kept."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from aotloop.checks.judge import UNJUDGED, Judge, Judgement, Question
from aotloop.core.objective import digest_of
from aotloop.execution.judges.case import Case
from aotloop.process.cancellation import Cancellation
from aotloop.trust import judgements
from aotloop.trust import judgements as votes


class RememberingJudge:
    """Asks another judge, if there is one, only questions that are open and that matter."""

    def __init__(self, case: Case, *, votes: int, otherwise: Judge | None = None, hint: str | None = None) -> None:
        """`hint`: how to configure a judge, if there is none."""
        self._case = case
        self._votes = votes
        self._otherwise = otherwise
        self._hint = hint

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        if self._otherwise is None and not judgements.is_anything_kept():
            return self._not_asked(leaf)  # without reading the files
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
            votes.forget_votes(key)
        return found

    def _not_asked(self, leaf: Question) -> Judgement:
        needed = UNJUDGED[leaf.check.type]
        return Judgement(passed=None, evidence=f"{needed}; {self._hint}" if self._hint is not None else needed)


def key_of(case: Case, leaf: Question, *, votes: int = 1, teller: str | None = None) -> str:
    """A key of everything that the answer depends on, except the agent's randomness.

    `teller`: the source of the answer, if no judge of ours was asked. Answers of different sources stay apart.
    """
    check = leaf.check
    parts = {
        "path": leaf.path,
        "check": msgspec.to_builtins(check, str_keys=True),
        "objective": digest_of(case.objective),
        "files": case.tree.digest(check.scope),
        "votes": votes if check.type == "quality" else 1,
    }
    named_parts = parts if teller is None else {**parts, "teller": teller}
    return sha256(msgspec.json.encode(named_parts, order="deterministic")).hexdigest()[:32]
