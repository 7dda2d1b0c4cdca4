"""The same files are judged once: what an agent found is kept, and nothing is gained by asking again."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from aotloop.core.objective import digest_of
from aotloop.judging.judge import Case
from aotloop.trust import judgements
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
        return found

    def _not_asked(self, leaf: Question) -> Judgement:
        needed = NOBODY_ASKED[leaf.check.type]
        return Judgement(passed=None, evidence=f"{needed}; {self._hint}" if self._hint is not None else needed)


def key_of(case: Case, leaf: Question, *, votes: int = 1, teller: str | None = None) -> str:
    """Of all that the answer depends on, but for the mood of whoever is asked.

    `teller`: who told it, if no judge of ours was asked; what one tells is not taken for what another found.
    """
    check = leaf.check
    parts = {
        "path": leaf.path,
        "check": msgspec.to_builtins(check, str_keys=True),
        "objective": digest_of(case.objective),
        "files": case.tree.digest(check.scope),
        "votes": votes if check.type == "quality" else 1,
    }
    told = parts if teller is None else {**parts, "teller": teller}
    return sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()[:32]
