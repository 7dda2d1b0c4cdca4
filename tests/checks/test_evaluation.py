"""Whole trees, with real commands and files."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.checks.evaluation import check_command, check_file, evaluate
from aotloop.checks.judge import Judgement
from aotloop.checks.results import CheckResult, Report
from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf, Node, leaves
from aotloop.core.model import BaseCase, Check, ChecklistItem, CheckType
from aotloop.errors import Unavailable
from aotloop.process.cancellation import Cancellation
from tests.checks.proofs import has_ended, is_dead, written_pid
from tests.patience import FOREVER, PATIENCE, give_way, shell_until, until, with_time_enough


def leaf(name: str, value: str, kind: CheckType = "command") -> Leaf:
    return Leaf(name, Check(type=kind, value=value))


PASS, FAIL, WAIT = (
    leaf("pass", ".", "file"),
    leaf("fail", "gone", "file"),
    leaf("wait", "it is so", "assertion"),
)


class Says:
    """A judge that always says the same."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        self.asked: list[str] = []

    def judge(self, leaf: Leaf, cancellation: Cancellation) -> Judgement:
        assert not cancellation.cancelled
        self.asked.append(leaf.name)
        return self.judgement


# --- logic -------------------------------------------------------------------------------------------------


def oracle(node: Node) -> bool | None:
    """What the tree means, written down without a thought for speed or order."""
    if isinstance(node, Leaf):
        return {"pass": True, "fail": False, "wait": None}[node.name]
    values = [oracle(child) for child in node.children]
    if isinstance(node, AnyOf):
        return True if True in values else None if None in values else False
    return False if False in values or not values else None if None in values else True


def small_trees() -> list[Node]:
    """All trees of up to two levels with up to two children each."""
    nodes: list[Node] = [PASS, FAIL, WAIT]
    for _ in range(2):
        below = [children for number in range(3) for children in itertools.product(nodes, repeat=number)]
        nodes = [PASS, FAIL, WAIT, *(kind("n", children) for kind in (AllOf, AnyOf) for children in below)]
    return nodes


def test_every_small_tree_means_what_the_oracle_says(tmp_path: Path) -> None:
    trees = small_trees()
    assert len(trees) > 1700
    for tree in trees:
        report = evaluate(tree, root=tmp_path, workers=2)
        expected = oracle(tree)
        assert (report.passed, report.undecided) == (expected is True, expected is None), tree
        assert bool(report.failing) == (expected is False), tree
        assert mirrors(report.items, tree), tree


def mirrors(items: tuple[CheckResult, ...], tree: Node) -> bool:
    if isinstance(tree, AllOf) and tree.children:
        return len(items) == len(tree.children) and all(map(mirrors_node, items, tree.children))
    return len(items) == 1 and mirrors_node(items[0], tree)


def mirrors_node(result: CheckResult, node: Node) -> bool:
    if isinstance(node, Leaf):
        return (result.name, result.kind, result.children) == (node.name, node.check.type, ())
    kind = "group" if isinstance(node, AllOf) else "any_of"
    same = (result.name, result.kind, len(result.children)) == (node.name, kind, len(node.children))
    return same and all(map(mirrors_node, result.children, node.children))


@pytest.mark.parametrize("empty", [AllOf("list", ()), AnyOf("list", ()), AllOf("top", (AllOf("list", ()), PASS))])
def test_an_empty_list_fails_and_says_that_it_is_empty(tmp_path: Path, empty: Node) -> None:
    report = evaluate(empty, root=tmp_path)
    assert not report.passed
    assert not report.undecided
    assert "is empty" in report.failing["list"].evidence


def test_an_empty_checklist_of_a_base_case_fails(tmp_path: Path) -> None:
    """Defect 7 of the predecessor: `checklist: []` passed."""
    report = evaluate(BaseCase(checklist=()), root=tmp_path)
    assert not report.passed
    assert "is empty" in report.failing["base case"].evidence


def test_a_base_case_is_evaluated_as_the_list_it_is(tmp_path: Path) -> None:
    items = (
        ChecklistItem(item="there", check=Check(type="file", value=".")),
        ChecklistItem(item="runs", group=(ChecklistItem(item="now", check=Check(type="command", value="false")),)),
    )
    report = evaluate(BaseCase(checklist=items), root=tmp_path)
    assert [item.name for item in report.items] == ["there", "runs"]
    assert list(report.failing) == ["runs / now"]
    assert evaluate(BaseCase(type="not_command", value="false"), root=tmp_path).passed
    assert not evaluate(BaseCase(type="command"), root=tmp_path).passed


def test_each_type_of_check_is_known(tmp_path: Path) -> None:
    tree = AllOf(
        "all",
        (
            leaf("a", "true", "command"),
            leaf("b", "false", "not_command"),
            leaf("c", ".", "file"),
            leaf("d", "gone", "not_file"),
        ),
    )
    report = evaluate(tree, root=tmp_path)
    assert report.passed
    assert [item.kind for item in report.items] == ["command", "not_command", "file", "not_file"]
    assert check_command("true", root=tmp_path).passed
    assert check_file(".", root=tmp_path).passed


# --- judged items ------------------------------------------------------------------------------------------


def test_an_assertion_is_known_and_waits_for_a_judgement(tmp_path: Path) -> None:
    """Defect 7 of the predecessor: `assertion` was an unknown type."""
    report = evaluate(WAIT, root=tmp_path)
    assert report.items[0].kind == "assertion"
    assert report.items[0].evidence == "needs a judgement and a person's confirmation"


def test_a_checklist_with_only_judged_items_is_undecided_and_not_passed(tmp_path: Path) -> None:
    """Defect 7 of the predecessor: it passed."""
    quality = Leaf("quality", Check(type="quality", criteria="readable", pass_threshold=3))
    report = evaluate(AllOf("list", (WAIT, quality)), root=tmp_path)
    assert (report.passed, report.undecided) == (False, True)
    assert report.items[1].evidence == "needs a judge"
    assert [(item["item"], item["type"]) for item in report.as_data()["skipped"]] == [
        ("wait", "assertion"),
        ("quality", "quality"),
    ]


def test_a_judged_item_deep_in_a_checklist_does_not_vanish(tmp_path: Path) -> None:
    """Defect 7 of the predecessor: a nested skipped item was gone, and the rest passed."""
    report = evaluate(AllOf("list", (PASS, AllOf("g", (PASS, AnyOf("either", (FAIL, WAIT)))))), root=tmp_path)
    assert (report.passed, report.undecided) == (False, True)
    assert list(report.waiting) == ["g / either / wait"]


def test_a_judge_decides_quality(tmp_path: Path) -> None:
    quality = Leaf("quality", Check(type="quality", criteria="readable", pass_threshold=3))
    judge = Says(Judgement(passed=True, evidence="4.2 of 5", scores={"readable": 4.2}))
    report = evaluate(quality, root=tmp_path, judge=judge)
    assert report.passed
    assert (report.items[0].evidence, report.items[0].scores) == ("4.2 of 5", {"readable": 4.2})
    assert report.items[0].value == "readable"


def test_an_assertion_never_passes_without_a_person(tmp_path: Path) -> None:
    unconfirmed = evaluate(WAIT, root=tmp_path, judge=Says(Judgement(passed=True, evidence="looks so")))
    assert (unconfirmed.passed, unconfirmed.undecided) == (False, True)
    assert unconfirmed.items[0].evidence == "looks so; waits for a person's confirmation"
    confirmed = Judgement(passed=True, evidence="looks so", confirmed=True)
    assert evaluate(WAIT, root=tmp_path, judge=Says(confirmed)).passed
    denied = evaluate(WAIT, root=tmp_path, judge=Says(Judgement(passed=False, evidence="it is not")))
    assert not denied.undecided


def test_a_judge_that_cannot_work_leaves_the_item_undecided(tmp_path: Path) -> None:
    class Absent:
        def judge(self, leaf: Leaf, cancellation: Cancellation) -> Judgement:
            raise Unavailable(f"no agent for {leaf.name}, {cancellation.cancelled}")

    report = evaluate(WAIT, root=tmp_path, judge=Absent())
    assert report.undecided
    assert report.items[0].evidence == "the judge could not decide: no agent for wait, False"


def test_a_judge_is_not_asked_about_a_choice_that_is_not_needed(tmp_path: Path) -> None:
    judge = Says(Judgement(passed=False, evidence="no"))
    assert evaluate(AnyOf("either", (PASS, WAIT)), root=tmp_path, judge=judge).passed
    assert judge.asked == []
    evaluate(AnyOf("either", (FAIL, WAIT)), root=tmp_path, judge=judge)
    assert judge.asked == ["wait"]


# --- order and time ----------------------------------------------------------------------------------------


def test_two_leaves_run_at_the_same_time(tmp_path: Path) -> None:
    def meet(mine: str, other: str) -> Leaf:
        return leaf(mine, f"touch {mine}; {shell_until(f'test -e {other}')}")

    tree = AllOf("list", (meet("a", "b"), AllOf("nested", (meet("b", "a"),))))
    assert evaluate(tree, root=tmp_path, workers=2, timeout=PATIENCE).passed


def test_no_more_leaves_run_at_once_than_there_are_workers(tmp_path: Path) -> None:
    alone = "mkdir busy && sleep 0.05 && rmdir busy"
    tree = AllOf("list", tuple(leaf(str(number), alone) for number in range(5)))
    assert evaluate(tree, root=tmp_path, workers=1).passed


def test_results_are_in_the_order_of_the_file_whoever_finishes_first(tmp_path: Path) -> None:
    finished: list[str] = []

    def note(path: str, what: str, _: CheckResult | None) -> None:
        if what == "finished":
            finished.append(path)
            (tmp_path / "finished").touch()

    first = leaf("slow", f"{shell_until('test -e finished')}; echo slow")
    tree = AllOf("list", (first, leaf("quick", "echo quick")))
    report = evaluate(tree, root=tmp_path, workers=2, timeout=PATIENCE, on_progress=note)
    assert finished == ["quick", "slow"]
    assert [(item.name, item.output) for item in report.items] == [("slow", "slow\n"), ("quick", "quick\n")]


def test_any_of_stops_at_the_first_choice_that_passes(tmp_path: Path) -> None:
    later = AllOf("later", (leaf("made", "touch made"), AnyOf("deeper", (leaf("made too", "touch made"),))))
    tree = AnyOf("either", (leaf("no", "false"), leaf("yes", "true"), later))
    report = evaluate(tree, root=tmp_path, workers=4)
    assert report.passed
    assert not (tmp_path / "made").exists()
    no, yes, skipped = report.items[0].children
    assert (no.skipped, yes.skipped, skipped.skipped) == (False, False, True)
    assert (skipped.passed, skipped.evidence) == (None, "not needed: 'yes' passed")
    assert all(child.skipped for child in skipped.children)
    assert report.items[0].evidence == "'yes' passed"
    assert report.as_data()["checklist"][0]["children"][2]["skipped"] is True


def test_choices_run_one_after_another_although_there_are_workers(tmp_path: Path) -> None:
    choices = tuple(leaf(str(number), "mkdir busy && sleep 0.05 && rmdir busy && false") for number in range(3))
    report = evaluate(AnyOf("either", choices), root=tmp_path, workers=4)
    assert [choice.exit_code for choice in report.items[0].children] == [1, 1, 1]
    assert not (tmp_path / "busy").exists()
    assert list(report.failing) == ["either"]


@pytest.mark.parametrize("kinds", [(AllOf,), (AnyOf,), (AllOf, AnyOf)])
def test_fifty_levels_of_nesting_need_one_worker(tmp_path: Path, kinds: tuple[Callable[..., Node], ...]) -> None:
    tree: Node = leaf("bottom", "true")
    for level in range(50):
        tree = kinds[level % len(kinds)](f"level {level}", (tree, PASS))
    report = evaluate(tree, root=tmp_path, workers=1)
    assert report.passed
    assert len(list(leaves(tree))) == 51


def test_a_wide_list_is_no_trouble(tmp_path: Path) -> None:
    tree = AllOf("list", (*(PASS for _ in range(500)), AnyOf("choices", (*(AllOf("e", ()) for _ in range(500)), PASS))))
    assert evaluate(tree, root=tmp_path).passed


# --- progress ----------------------------------------------------------------------------------------------


def test_progress_is_told_of_each_leaf_by_its_path_and_never_twice_at_once(tmp_path: Path) -> None:
    told: list[tuple[str, str, bool | None]] = []
    busy = threading.Lock()

    def note(path: str, what: str, result: CheckResult | None) -> None:
        assert busy.acquire(blocking=False), "told from two threads at once"
        give_way()
        told.append((path, what, result.passed if result else None))
        busy.release()

    group = AllOf("g", (leaf("x", "true"), leaf("x", "false"), AnyOf("either", (PASS, FAIL))))
    evaluate(AllOf("list", (PASS, group)), root=tmp_path, workers=4, on_progress=note)
    paths = ["pass", "g / x", "g / x (2)", "g / either / pass"]
    assert sorted(path for path, what, _ in told if what == "started") == sorted(paths)
    assert {path: passed for path, what, passed in told if what == "finished"} == dict(
        zip(paths, (True, True, False, True), strict=True)
    )


def test_paths_of_progress_are_those_of_the_report(tmp_path: Path) -> None:
    nested = AllOf("l", (AllOf("g", (FAIL, AllOf("h / i", (FAIL,)))),))
    for tree in (FAIL, AllOf("l", (FAIL, FAIL)), nested):
        told: dict[str, None] = {}
        report = evaluate(tree, root=tmp_path, workers=1, on_progress=lambda path, *_, told=told: told.setdefault(path))
        assert list(told) == list(report.failing)


def test_an_error_of_the_listener_ends_the_evaluation_and_what_runs(tmp_path: Path) -> None:
    def fail(path: str, what: str, _: CheckResult | None) -> None:
        if (path, what) == ("b", "finished"):
            raise BrokenPipeError

    outer = Cancellation()
    first = leaf("a", f"sleep {FOREVER} & echo $! > pid; wait")
    tree = AllOf("list", (first, leaf("b", shell_until("test -s pid"))))
    with pytest.raises(BrokenPipeError):
        evaluate(tree, root=tmp_path, workers=2, on_progress=fail, cancellation=outer)
    assert has_ended(written_pid(tmp_path / "pid"))
    assert not outer.cancelled, "what else runs under it is not ours to end"


# --- cancelling --------------------------------------------------------------------------------------------


def test_cancelling_kills_what_runs_and_prevents_what_would_come(tmp_path: Path) -> None:
    cancellation = Cancellation()
    tree = AllOf(
        "list",
        (
            leaf("running", f"sleep {FOREVER} & echo $! > pid; wait"),
            leaf("next", "touch made"),
            leaf("file", "x", "not_file"),
            WAIT,
        ),
    )
    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(evaluate(tree, root=tmp_path, workers=1, cancellation=cancellation))
    )
    thread.start()
    pid = written_pid(tmp_path / "pid")
    cancellation.cancel()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    until(lambda: is_dead(pid), "it still runs")
    assert not (tmp_path / "made").exists()
    running, following, file, judged = reports[0].items
    assert (running.passed, following.passed, file.passed, judged.passed) == (False, False, False, None)
    assert running.evidence.startswith("cancelled after")
    assert following.evidence == "cancelled before it began"


def test_nothing_runs_under_what_was_cancelled_before(tmp_path: Path) -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    report = evaluate(leaf("a", "touch made"), root=tmp_path, cancellation=cancellation)
    assert not report.passed
    assert not (tmp_path / "made").exists()


def test_the_time_out_and_the_environment_reach_every_command(tmp_path: Path) -> None:
    tree = AllOf("list", (leaf("slow", f"sleep {FOREVER}"), leaf("env", 'test "$EXTRA" = yes')))

    def tried(limit: float) -> tuple[float, Report]:
        return limit, evaluate(tree, root=tmp_path, timeout=limit, env={"EXTRA": "yes"}, workers=2)

    limit, report = with_time_enough(tried, lambda outcome: "timed out" not in outcome[1].items[1].evidence)
    assert [item.passed for item in report.items] == [False, True]
    assert report.items[0].evidence.startswith(f"timed out after {limit:g} s")
