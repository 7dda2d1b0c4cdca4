"""From answers to a judgement and its evidence."""

from __future__ import annotations

from aotloop.agents.answers.answer_schema import Score
from aotloop.agents.contract import Crashed, Done, Judged, MustWait, Outcome, Scored
from aotloop.core.model import Check, Criterion
from aotloop.execution.judges.judgement import assertion_judged, quality_judged

CHECK = Check(
    type="quality",
    rubric=(Criterion(criterion="clarity", weight=0.75), Criterion(criterion="depth", weight=0.25)),
    pass_threshold=3.0,
)


def scored(evidence: str = "a.py:1 fine", /, **given: float) -> Scored:
    return Scored(scores=tuple(Score(criterion=name, score=one, evidence=evidence) for name, one in given.items()))


def places(text: str) -> tuple[str, ...]:
    return ("a.py:1",) if "a.py:1" in text else ()


def judged(*outcomes: Outcome, check: Check = CHECK) -> tuple[bool | None, str]:
    found = quality_judged(check, outcomes, places)
    return found.passed, found.evidence


def test_the_mean_is_weighted_and_the_worst_comes_first() -> None:
    found = quality_judged(CHECK, [scored(depth=2, clarity=4)], places)
    assert (found.passed, found.scores) == (True, {"clarity": 4.0, "depth": 2.0})
    assert found.evidence == "3.5 of 5, needs 3\n- depth 2: a.py:1 fine\n- clarity 4: a.py:1 fine"


def test_a_criterion_that_nobody_asked_about_counts_for_nothing() -> None:
    assert judged(scored(clarity=2, depth=2, beauty=5))[0] is False


def test_what_one_of_several_could_not_say_the_others_say() -> None:
    crashed = Crashed(reason="it fell over")
    passed, evidence = judged(scored(clarity=5, depth=5), crashed, scored(clarity=2, depth=2))
    assert passed is True
    assert evidence.startswith("3.5 of 5 (median of 3 votes), needs 3\n- clarity 3.5 (votes: 5, 2): ")
    passed, evidence = judged(scored(clarity=5, depth=5), crashed, MustWait(reason="busy"))
    assert passed is None
    assert (
        "of 3 votes, the judge gave no answer that counts: it fell over; the judge could not be asked now" in evidence
    )


def test_a_score_without_a_place_is_missing() -> None:
    passed, evidence = judged(scored("I like it", clarity=5, depth=1))
    assert passed is None
    assert evidence == "not judged: clarity (not backed by a place in the files)\n- depth 1: I like it"


def test_the_only_criterion_of_all_is_meant_by_any_name() -> None:
    simple = Check(type="quality", criteria="short functions", pass_threshold=4)
    assert judged(scored(**{"short functions": 4}), check=simple)[0] is True


def test_a_name_that_was_told_on_one_line_is_known_again() -> None:
    check = Check(type="quality", rubric=(Criterion(criterion="easy\nto read", weight=1),), pass_threshold=3)
    assert judged(scored(**{"easy to read": 4}), check=check)[0] is True


def test_an_answer_of_another_role_decides_nothing() -> None:
    for found in (quality_judged(CHECK, [Done(summary="all fine")], places), assertion_judged(scored(clarity=5))):
        assert (found.passed, found.scores) == (None, {})
        assert "another role" in found.evidence


def test_an_assertion_fails_with_what_does_not_hold() -> None:
    found = assertion_judged(Judged(passed=False, evidence="looked", failures=("a", "b")))
    assert (found.passed, found.evidence, found.confirmed) == (False, "an agent says no: a; b", False)
    assert assertion_judged(Judged(passed=False, evidence="looked")).evidence == "an agent says no: looked"


def test_evidence_is_bounded() -> None:
    rubric = tuple(Criterion(criterion=f"c{number}", weight=1) for number in range(300))
    check = Check(type="quality", rubric=rubric, pass_threshold=3)
    long = scored("a.py:1 " + "x" * 4000, **{f"c{number}": 4 for number in range(300)})
    assert len(judged(long, check=check)[1]) <= 6000
