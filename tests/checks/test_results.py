"""Three values, and what a report says about a tree of them."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import pytest

from aotloop.checks.results import CheckResult, Kind, all_of, any_of, group_result, report_of
from aotloop.core.checks.item_paths import distinct
from aotloop.core.model import Check, Criterion

Value = bool | None


def leaf(name: str, passed: Value, kind: Kind = "command", to_judge: Check | None = None) -> CheckResult:
    return CheckResult(name=name, kind=kind, passed=passed, evidence="because", to_judge=to_judge)


def judged(name: str) -> CheckResult:
    return leaf(name, None, "assertion", Check(type="assertion", value="it is fast"))


@pytest.mark.parametrize("values", [v for n in range(5) for v in itertools.product((True, False, None), repeat=n)])
def test_three_valued_logic_says_what_holds_whatever_the_undecided_turn_out_to_be(
    values: tuple[Value, ...],
) -> None:
    """The naive oracle: decide every undecided value both ways; what all of these agree on is the answer."""
    options = [(True, False) if value is None else (value,) for value in values]
    everything = {all(world) and bool(world) for world in itertools.product(*options)}
    something = {any(world) for world in itertools.product(*options)}
    assert all_of(values) is (everything.pop() if len(everything) == 1 else None)
    assert any_of(values) is (something.pop() if len(something) == 1 else None)


@pytest.mark.parametrize("kind", ["group", "any_of"])
def test_nothing_empty_passes(kind: str) -> None:
    result = group_result("nothing", "group" if kind == "group" else "any_of", [])
    assert result.passed is False
    assert "is empty" in result.evidence


def test_an_empty_checklist_does_not_pass() -> None:
    report = report_of([])
    assert (report.passed, report.undecided) == (False, False)


def test_a_report_passes_only_if_everything_is_true() -> None:
    assert report_of([leaf("a", True), leaf("b", True)]).passed
    assert not report_of([leaf("a", True), leaf("b", False)]).passed
    waits = report_of([leaf("a", True), judged("b")])
    assert (waits.passed, waits.undecided) == (False, True)
    fails = report_of([leaf("a", False), judged("b")])
    assert (fails.passed, fails.undecided) == (False, False)


def test_failing_leaves_are_named_by_their_path_and_a_failing_any_of_is_one() -> None:
    report = report_of(
        [
            leaf("build", False),
            group_result(
                "tests",
                "group",
                [
                    leaf("unit", True),
                    leaf("e2e", False),
                    group_result("either", "any_of", [leaf("x", False), leaf("y", False)]),
                    group_result("none", "group", []),
                ],
            ),
        ]
    )
    assert list(report.failing) == ["build", "tests / e2e", "tests / either", "tests / none"]
    assert report.failing["tests / either"].kind == "any_of"


def test_a_nested_judged_item_does_not_vanish() -> None:
    """Defect 7 of the predecessor: what waited in a group was neither passed, failed nor mentioned."""
    inner = group_result("inner", "any_of", [leaf("x", False), judged("fast")])
    report = report_of([group_result("outer", "group", [leaf("a", True), inner])])
    assert (report.passed, report.undecided) == (False, True)
    assert list(report.waiting) == ["outer / inner / fast"]
    assert report.as_data()["skipped"] == [
        {"item": "outer / inner / fast", "type": "assertion", "evidence": "because", "value": "it is fast"}
    ]


def test_a_judged_item_still_waits_when_something_else_fails() -> None:
    report = report_of([group_result("g", "group", [leaf("a", False), judged("fast")])])
    assert list(report.waiting) == ["g / fast"]


def test_a_judged_choice_no_longer_waits_once_another_passed() -> None:
    report = report_of([group_result("either", "any_of", [judged("fast"), leaf("b", True)])])
    assert report.passed
    assert report.waiting == {}


def test_what_is_to_be_judged_is_in_the_data() -> None:
    check = Check(
        type="quality",
        rubric=(Criterion(criterion="Clear", weight=1.0, levels={1: "no", 5: "yes"}),),
        pass_threshold=4,
        scope=("src/**/*.py",),
    )
    (waiting,) = report_of([leaf("quality", None, "quality", check)]).as_data()["skipped"]
    assert waiting["type"] == "quality"
    assert waiting["pass_threshold"] == 4
    assert waiting["rubric"][0]["criterion"] == "Clear"
    assert waiting["scope"] == ["src/**/*.py"]
    assert "criteria" not in waiting
    assert json.loads(json.dumps(waiting)) == waiting


def test_the_data_is_nested_as_the_checklist_is_and_leaves_out_what_is_not_known() -> None:
    ran = CheckResult(name="t", kind="command", passed=True, evidence="e", value="x", exit_code=0, duration=0.12345)
    looked = CheckResult(name="f", kind="file", passed=False, evidence="e", path="a", exists=False)
    data = report_of([group_result("g", "group", [ran, looked]), group_result("n", "any_of", [])]).as_data()
    assert data["passed"] is False
    assert data["undecided"] is False
    group, empty = data["checklist"]
    assert (group["item"], group["type"], group["passed"]) == ("g", "group", False)
    assert group["evidence"] == "1 of 2 passed, 1 failed"
    assert group["children"][0] == {
        "item": "t",
        "type": "command",
        "passed": True,
        "evidence": "e",
        "value": "x",
        "exit_code": 0,
        "duration": 0.123,
    }
    assert group["children"][1]["exists"] is False
    assert empty["children"] == []
    assert json.loads(json.dumps(data)) == data


def test_items_of_the_same_name_have_different_paths() -> None:
    assert distinct(["a", "b", "a", "a", "a (2)"]) == ["a", "b", "a (2)", "a (3)", "a (2) (2)"]
    flat = leaf("g / x", False)
    report = report_of([group_result("g", "group", [leaf("x", False), leaf("x", False)]), flat])
    assert list(report.failing) == ["g / x", "g / x (2)", "g/x"]


def test_reading_results_does_not_load_what_starts_processes() -> None:
    program = (
        "import sys; before = set(sys.modules); import aotloop.checks.results; "
        "print(sorted({'subprocess', 'threading', 'psutil', 'selectors'} & (set(sys.modules) - before)))"
    )
    path = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
