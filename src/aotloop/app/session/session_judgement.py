"""The judgement of an item of the base case in a session: we grade it, and keep it for exactly these files.

A score counts only on the conditions of any judge: on the scale, and backed by a line that is there.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from aotloop.agents.answers.answer_schema import Score
from aotloop.agents.contract import Judged, Scored
from aotloop.app.session.session_judge import TELLER, case_of
from aotloop.app.verify import subject_of
from aotloop.checks.evaluation import leaves_by_path
from aotloop.checks.judge import Judgement, Question
from aotloop.core import events
from aotloop.core.checks.checklist import JUDGED, Leaf
from aotloop.core.checks.item_paths import SEPARATOR
from aotloop.core.checks.quality import grade
from aotloop.core.machine import advance
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.execution.judges.case import Case
from aotloop.execution.judges.judgement import assertion_judged, places_in, quality_judged
from aotloop.execution.judges.memory import key_of
from aotloop.statefile.store import Store
from aotloop.trust import judgements


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """Either scores (for quality) or passed (for an assertion)."""

    item: str
    evidence: str
    scores: Mapping[str, Score] | None = None
    passed: bool | None = None
    confirmed: bool = False
    """The session says that a person agreed; there is no other proof."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    item: str
    judgement: Judgement
    mean: float | None = None
    waits_for_person: bool = False


def record(store: Store, statement: Statement) -> Recorded:
    """An undecided judgement is reported, and not kept."""
    loop = store.load()
    case = case_of(store)
    path, leaf = _named(loop, statement.item)
    question = Question(leaf.name, leaf.check, path)
    recorded = (
        _assertion(path, leaf, statement) if leaf.check.type == "assertion" else _quality(path, leaf, statement, case)
    )
    found = recorded.judgement
    if found.passed is not None:
        judgements.remember(
            key_of(case, question, teller=TELLER),
            passed=found.passed,
            evidence=found.evidence,
            scores=found.scores,
            item=path,
            confirmed=found.confirmed,
        )
        _note_scores(store, path, found)
    return recorded


def _assertion(path: str, leaf: Leaf, statement: Statement) -> Recorded:
    if statement.passed is None:
        raise AotError(f"{leaf.name} is an assertion: it holds or not", hint="Say so with --passed true or false.")
    found = assertion_judged(Judged(passed=statement.passed, evidence=statement.evidence))
    if statement.confirmed:
        agreed = f"{found.evidence}; the session says that a person agreed"
        found = replace(found, evidence=agreed, confirmed=True)
    return Recorded(item=path, judgement=found, waits_for_person=statement.passed and not statement.confirmed)


def _quality(path: str, leaf: Leaf, statement: Statement, case: Case) -> Recorded:
    if statement.passed is not None and statement.confirmed:
        whether = "confirmed it" if statement.passed else "disagrees"
        evidence = f"the session says that a person {whether}: {statement.evidence}"
        return Recorded(item=path, judgement=Judgement(passed=statement.passed, evidence=evidence, confirmed=True))
    if statement.scores is None:
        raise AotError(f"{leaf.name} is judged by scores", hint="Give them: --scores '{\"criterion\": 4}'.")
    given = tuple(replace(score, evidence=score.evidence or statement.evidence) for score in statement.scores.values())
    found = quality_judged(leaf.check, [Scored(scores=given)], lambda text: places_in(text, case.tree.files, case.root))
    return Recorded(item=path, judgement=found, mean=grade(leaf.check, [found.scores]).mean)


def _note_scores(store: Store, path: str, found: Judgement) -> None:
    """Writes them into the present verdict, so that they can be seen. The next verdict uses them."""
    if not found.scores:
        return
    subject = subject_of(store, store.load())

    def change(loop: Loop) -> None:
        last = loop.control.verdict
        if last is not None and (last.objective_digest, last.commit) == (subject.objective_digest, subject.commit):
            verdict = replace(last, scores={**last.scores, path: found.scores})
            advance(loop, events.VerdictReached(verdict=verdict))

    store.update(change)


def _named(loop: Loop, name: str) -> tuple[str, Leaf]:
    """By its whole path, or by its last name if that is unique."""
    items = {path: leaf for path, leaf in leaves_by_path(loop.objective.base_case).items() if leaf.check.type in JUDGED}
    fitting = [path for path in items if path == name] or [
        path for path, leaf in items.items() if name in (leaf.name, path.rpartition(SEPARATOR)[2])
    ]
    if len(fitting) != 1:
        known = ", ".join(repr(path) for path in fitting or items)
        which = "is more than one item" if fitting else "is no item that is judged"
        raise AotError(f"{name!r} {which}", hint=f"There are: {known}." if known else None)
    return fitting[0], items[fitting[0]]
