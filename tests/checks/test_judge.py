"""A judge is told exactly which item is meant; a person's word decides that one and no other."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given

from aotloop.checks.evaluation import evaluate, leaves_by_path
from aotloop.checks.judge import ConfirmedByPerson, Judge, Judgement, Question
from aotloop.core.model import BaseCase, Check, ChecklistItem
from aotloop.process.cancellation import Cancellation
from tests.loops import base_cases


def claim(name: str, value: str = "it is so") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type="assertion", value=value))


NESTED = BaseCase(
    checklist=(
        claim("nice", "the first"),
        claim("nice", "the second"),
        ChecklistItem(item="looks", group=(claim("nice", "the third"), claim("a / b", "the fourth"))),
        ChecklistItem(item="either", any_of=(claim("nice", "the fifth"), claim("plain", "the sixth"))),
    )
)


class Listening:
    def __init__(self) -> None:
        self.asked: dict[str, str | None] = {}

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        assert not cancellation.cancelled
        self.asked[leaf.path] = leaf.check.value
        return Judgement(passed=None, evidence="listened")


def test_every_item_has_a_path_of_its_own_and_the_judge_is_told_it(tmp_path: Path) -> None:
    judge = Listening()
    report = evaluate(NESTED, root=tmp_path, judge=judge)
    assert judge.asked == {
        "nice": "the first",
        "nice (2)": "the second",
        "looks / nice": "the third",
        "looks / a/b": "the fourth",
        "either / nice": "the fifth",
        "either / plain": "the sixth",
    }
    assert list(report.waiting) == list(judge.asked)


def test_the_paths_are_known_without_evaluating_anything() -> None:
    found = leaves_by_path(NESTED)
    assert [leaf.check.value for leaf in found.values()] == [
        f"the {number}" for number in ("first", "second", "third", "fourth", "fifth", "sixth")
    ]
    assert list(leaves_by_path(BaseCase(type="assertion", value="x"))) == ["assertion: x"]


@given(base_cases)
def test_the_paths_of_leaves_are_those_of_reports(base_case: BaseCase) -> None:
    judged = BaseCase(checklist=_all_judged(base_case.checklist or ()))
    report = evaluate(judged, root=Path("/"))
    assert list(report.waiting) == list(leaves_by_path(judged))


def _all_judged(items: tuple[ChecklistItem, ...]) -> tuple[ChecklistItem, ...]:
    return tuple(
        ChecklistItem(
            item=item.item,
            check=Check(type="assertion", value="x") if item.check is not None else None,
            group=_all_judged(item.group) if item.group is not None else None,
            any_of=_all_judged(item.any_of) if item.any_of is not None else None,
        )
        for item in items
    )


def test_a_person_decides_the_one_that_was_named(tmp_path: Path) -> None:
    judge = ConfirmedByPerson({"nice (2)": "saw it", "either / plain": "fine"}, rejected={"looks / nice": "too loud"})
    report = evaluate(NESTED, root=tmp_path, judge=judge)
    assert list(report.holding) == ["nice (2)", "either / plain"]
    assert list(report.waiting) == ["nice", "looks / a/b"]
    assert {path: result.evidence for path, result in report.failing.items()} == {
        "looks / nice": "a person disagrees: too loud"
    }


def test_who_rejects_is_heard_before_who_confirmed(tmp_path: Path) -> None:
    judge = ConfirmedByPerson({"nice": "yes"}, rejected={"nice": "no"})
    assert list(evaluate(NESTED, root=tmp_path, judge=judge).failing) == ["nice"]


def test_about_everything_else_another_judge_is_asked(tmp_path: Path) -> None:
    listening = Listening()
    judge: Judge = ConfirmedByPerson({"nice": "yes"}, otherwise=listening)
    evaluate(NESTED, root=tmp_path, judge=judge)
    assert "nice" not in listening.asked
    assert "nice (2)" in listening.asked


def test_what_nobody_was_asked_about_says_what_it_needs(tmp_path: Path) -> None:
    quality = ChecklistItem(item="good", check=Check(type="quality", criteria="readable", pass_threshold=3))
    base_case = BaseCase(checklist=(claim("nice"), quality))
    with_judge = evaluate(base_case, root=tmp_path, judge=ConfirmedByPerson({}))
    assert with_judge == evaluate(base_case, root=tmp_path)
    confirmed = evaluate(base_case, root=tmp_path, judge=ConfirmedByPerson({"nice": "yes", "good": "yes"}))
    assert confirmed.passed
