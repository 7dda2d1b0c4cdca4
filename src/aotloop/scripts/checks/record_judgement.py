"""record_judgement: what a judge in a session found about an item of the base case."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.agents.answers.answer_schema import Score
from aotloop.app.loops import open_store
from aotloop.app.session.session_judgement import Statement, record
from aotloop.scripts.arguments import Option, Usage, UsageError, truth
from aotloop.scripts.json_output import Script
from aotloop.trust.person import refuse_agents


def _record_judgement(given: dict[str, Any]) -> dict[str, Any]:
    refuse_agents("an agent does not judge its own work", hint=None)
    if (given["scores"] is None) == (given["passed"] is None):
        raise UsageError("what was found? Give one of --scores JSON and --passed true|false")
    recorded = record(
        open_store(given["state_file"]),
        Statement(
            item=given["item"],
            evidence=given["evidence"],
            scores=_scores(given["scores"]) if given["scores"] is not None else None,
            passed=given["passed"],
            confirmed=given["confirmed_by_person"],
        ),
    )
    found = recorded.judgement
    result: dict[str, Any] = {"item": recorded.item, "passed": found.passed, "evidence": found.evidence}
    if found.passed is None:
        return {"success": False, **result, "undecided": True, "error": f"nothing is decided by that: {found.evidence}"}
    return {
        "success": True,
        **result,
        "mean": recorded.mean,
        "scores": found.scores,
        "waits_for_person": recorded.waits_for_person,
    }


class _ScoreGiven(msgspec.Struct, frozen=True):
    score: float
    evidence: str = ""


def _scores(text: str) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(text, type=dict[str, float | _ScoreGiven])
    except msgspec.MsgspecError as error:
        shape = '{"criterion": 4} or {"criterion": {"score": 4, "evidence": "file:line …"}}'
        raise UsageError(f"--scores cannot be read ({error}); it is {shape}") from None
    scores = {name: value if isinstance(value, _ScoreGiven) else _ScoreGiven(value) for name, value in given.items()}
    return {name: Score(criterion=name, score=score.score, evidence=score.evidence) for name, score in scores.items()}


RECORD_JUDGEMENT = Script(
    Usage(
        "Record what a judge found about a quality item (scores) or an assertion (passed); the grade is computed here.",
        (),
        {
            "--item": Option(required=True),
            "--scores": Option(),
            "--passed": Option(truth),
            "--evidence": Option(required=True),
            "--confirmed-by-person": Option(None),
        },
    ),
    _record_judgement,
)
