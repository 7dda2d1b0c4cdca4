"""What has to be judged waits for what a program decides, and knows whether it still matters."""

from __future__ import annotations

from pathlib import Path

from aotloop.checks.evaluation import evaluate
from aotloop.checks.judge import Judgement, Question
from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf, Node
from aotloop.core.model import Check
from aotloop.process.cancellation import Cancellation


class Listening:
    """A judge that notes what it was asked."""

    def __init__(self, folder: Path, *, passed: bool | None = True) -> None:
        self._folder = folder
        self._passed = passed
        self.asked: list[tuple[str, bool, bool]] = []

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        assert not cancellation.cancelled
        self.asked.append((leaf.path, leaf.is_moot, (self._folder / "ran").exists()))
        return Judgement(passed=self._passed, evidence="asked")


def quality(name: str) -> Leaf:
    return Leaf(name, Check(type="quality", criteria="good", pass_threshold=3))


def command(value: str) -> Leaf:
    return Leaf(value, Check(type="command", value=value))


RUN = command("sleep 0.1; touch ran")


def asked(folder: Path, node: Node, *, passed: bool | None = True) -> list[tuple[str, bool, bool]]:
    judge = Listening(folder, passed=passed)
    evaluate(node, root=folder, judge=judge)
    return judge.asked


def test_a_judge_is_asked_when_all_commands_have_ended(tmp_path: Path) -> None:
    tree = AllOf("all", (quality("q"), AllOf("group", (quality("p"), RUN))))
    assert sorted(asked(tmp_path, tree)) == [("group / p", False, True), ("q", False, True)]


def test_who_is_asked_after_something_failed_knows_that_it_decides_nothing(tmp_path: Path) -> None:
    assert asked(tmp_path, AllOf("all", (quality("q"), AllOf("group", (RUN, command("false")))))) == [("q", True, True)]


def test_a_choice_that_failed_is_not_the_end(tmp_path: Path) -> None:
    tree = AllOf("all", (AnyOf("any", (command("false"), quality("q"))), RUN))
    assert asked(tmp_path, tree) == [("any / q", False, True)]
    lost = AllOf("all", (AnyOf("any", (command("false"), command("false"))), quality("q")))
    assert asked(tmp_path, lost) == [("q", True, True)]


def test_a_choice_after_one_that_was_judged_is_tried(tmp_path: Path) -> None:
    tree = AnyOf("any", (quality("q"), RUN, quality("never")))
    judge = Listening(tmp_path, passed=False)
    report = evaluate(tree, root=tmp_path, judge=judge)
    assert report.passed
    assert [path for path, _, _ in judge.asked] == ["any / q"]


def test_an_empty_group_beside_it_does_not_hold_it_up(tmp_path: Path) -> None:
    assert asked(tmp_path, AllOf("all", (AllOf("empty", ()), quality("q")))) == [("q", True, False)]
