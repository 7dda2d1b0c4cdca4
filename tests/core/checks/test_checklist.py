"""Every check is a tree of leaves, and one that could never be decided is refused."""

from __future__ import annotations

from typing import Any

import pytest

from aotloop.core.checks.checklist import (
    AllOf,
    AnyOf,
    Leaf,
    atom_check_tree,
    base_case_tree,
    count_repairable,
    decided_by,
    failing_items_of,
    items_of,
    leaves,
    problems_of_atom_check,
    problems_of_base_case,
)
from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem, Criterion


def passes(name: str = "it runs", value: str | None = "true", check_type: Any = "command") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=check_type, value=value))


def found(*items: ChecklistItem) -> list[str]:
    return [f"{one.level} {one}" for one in problems_of_base_case(BaseCase(checklist=items), ("base",))]


def errors(*items: ChecklistItem) -> list[str]:
    return [one.removeprefix("error ") for one in found(*items) if one.startswith("error ")]


def quality(**terms: Any) -> ChecklistItem:
    terms.setdefault("pass_threshold", 3)
    return ChecklistItem(item="code", check=Check(type="quality", **terms))


def rubric(*criteria: Criterion, threshold: float | None = 3.5) -> ChecklistItem:
    return quality(rubric=criteria, pass_threshold=threshold)


def criterion(name: str = "clear", weight: float = 1.0, **more: Any) -> Criterion:
    return Criterion(criterion=name, weight=weight, **more)


# --- the tree ----------------------------------------------------------------------------------------------------


def test_a_checklist_becomes_a_tree_of_the_same_shape() -> None:
    one, two, three = passes("one"), passes("two"), passes("three")
    nested = ChecklistItem(item="any", any_of=(two, ChecklistItem(item="all", group=(three,))))
    tree = base_case_tree(BaseCase(checklist=(one, nested)))
    check = Check(type="command", value="true")
    assert tree == AllOf(
        "base case",
        (Leaf("one", check), AnyOf("any", (Leaf("two", check), AllOf("all", (Leaf("three", check),))))),
    )


def test_leaves_come_in_the_order_of_the_file() -> None:
    group = ChecklistItem(item="g", group=(passes("b"), ChecklistItem(item="h", any_of=(passes("c"), passes("d")))))
    tree = base_case_tree(BaseCase(checklist=(passes("a"), group, passes("e"))))
    assert [leaf.name for leaf in leaves(tree)] == ["a", "b", "c", "d", "e"]


def test_an_old_single_check_is_a_checklist_of_one_named_after_it() -> None:
    tree = base_case_tree(BaseCase(type="file", value="out/*.txt"))
    assert tree == AllOf("base case", (Leaf("file: out/*.txt", Check(type="file", value="out/*.txt")),))


def test_a_single_judged_check_keeps_all_its_terms() -> None:
    criteria = (criterion(),)
    base_case = BaseCase(type="quality", rubric=criteria, pass_threshold=4, scope=("src/**",))
    (leaf,) = leaves(base_case_tree(base_case))
    assert leaf.name == "quality: rubric"
    assert leaf.check == Check(type="quality", rubric=criteria, pass_threshold=4, scope=("src/**",))


def test_a_single_check_by_criteria_is_named_after_them() -> None:
    base_case = BaseCase(type="quality", criteria="short functions", pass_threshold=4)
    assert [leaf.name for leaf in leaves(base_case_tree(base_case))] == ["quality: short functions"]


def test_an_atoms_check_is_a_leaf_an_all_of_or_an_any_of() -> None:
    leaf = Leaf("one", Check(type="command", value="true"))
    assert atom_check_tree(AtomCheck(type="command", value="true"), "A1") == Leaf("A1", leaf.check)
    assert atom_check_tree(AtomCheck(group=(passes("one"),)), "A1") == AllOf("A1", (leaf,))
    assert atom_check_tree(AtomCheck(any_of=(passes("one"),)), "A1") == AnyOf("A1", (leaf,))


# --- the shape of a checklist ------------------------------------------------------------------------------------


def test_a_good_checklist_has_no_findings() -> None:
    everything = (
        passes(),
        passes("gone", "tmp/**", "not_file"),
        passes("there", "README.md", "file"),
        passes("refuses", "false", "not_command"),
        passes("reads well", "a stranger understands it", "assertion"),
        ChecklistItem(item="any", any_of=(passes(), ChecklistItem(item="all", group=(passes(),)))),
        rubric(criterion("clear", 0.25, levels={1: "no", 5: "yes"}), criterion("small", 0.75)),
        quality(criteria="short"),
    )
    assert found(*everything) == []


def test_an_empty_checklist_is_invalid() -> None:
    assert errors() == ["base.checklist: is empty, so it can never be decided; add at least one item"]


@pytest.mark.parametrize("form", ["group", "any_of"])
def test_an_empty_part_of_a_checklist_is_invalid_at_any_depth(form: str) -> None:
    empty = ChecklistItem(item="nothing", **{form: ()})  # type: ignore[arg-type]
    message = "is empty, so it can never be decided; add at least one item"
    assert errors(passes(), empty) == [f"base.checklist[1].{form}: {message}"]
    inside = ChecklistItem(item="outer", group=(passes(), empty))
    assert errors(inside) == [f"base.checklist[0].group[1].{form}: {message}"]


def test_an_item_is_exactly_one_of_three_things() -> None:
    check = Check(type="command", value="true")
    assert errors(ChecklistItem(item="none")) == [
        "base.checklist[0]: needs exactly one of check, group and any_of, has none"
    ]
    assert errors(ChecklistItem(item="two", check=check, any_of=(passes(),))) == [
        "base.checklist[0]: needs exactly one of check, group and any_of, has check, any_of"
    ]


def test_an_item_has_a_name() -> None:
    assert errors(passes(" ")) == ["base.checklist[0].item: is blank; name what is checked"]


def test_a_base_case_is_a_checklist_or_a_single_check_but_not_both_or_neither() -> None:
    both = BaseCase(type="command", value="true", checklist=(passes(),))
    (problem,) = problems_of_base_case(both, ("base",))
    assert str(problem) == "base: has both a checklist and a type; keep one of them"
    (problem,) = problems_of_base_case(BaseCase(value="true"), ("base",))
    assert str(problem) == "base: has neither a checklist nor a type"
    assert problem.missing


def test_an_atoms_check_has_exactly_one_form() -> None:
    (problem,) = problems_of_atom_check(AtomCheck(value="true"), ("check",))
    assert str(problem) == "check: needs exactly one of type, group and any_of, has none"
    (problem,) = problems_of_atom_check(AtomCheck(type="command", value="true", group=(passes(),)), ("check",))
    assert str(problem) == "check: needs exactly one of type, group and any_of, has type, group"


def test_what_is_wrong_inside_an_atoms_check_is_found() -> None:
    (problem,) = problems_of_atom_check(AtomCheck(any_of=()), ("check",))
    assert str(problem) == "check.any_of: is empty, so it can never be decided; add at least one item"
    (problem,) = problems_of_atom_check(AtomCheck(group=(passes(value=None),)), ("check",))
    assert str(problem) == "check.group[0].check.value: a command check needs a value"
    (problem,) = problems_of_atom_check(AtomCheck(type="file"), ("check",))
    assert str(problem) == "check.value: a file check needs a value"


# --- the terms of a check ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("check_type", ["command", "not_command", "file", "not_file", "assertion"])
@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_check_without_a_value_lacks_it(check_type: Any, value: str | None) -> None:
    (problem,) = problems_of_base_case(BaseCase(type=check_type, value=value), ("base",))
    assert str(problem) == f"base.value: a {check_type} check needs a value"
    assert problem.missing


def test_a_value_with_a_nul_could_not_be_run() -> None:
    assert errors(passes(value="echo\0")) == ["base.checklist[0].check.value: contains a NUL character"]


@pytest.mark.parametrize(
    "terms",
    [{"criteria": "short"}, {"pass_threshold": 3.0}, {"rubric": (criterion(),)}],
    ids=lambda one: next(iter(one)),
)
def test_terms_of_a_judgement_are_doubtful_in_any_other_check(terms: dict[str, Any]) -> None:
    (name,) = terms
    item = ChecklistItem(item="x", check=Check(type="file", value="x", **terms))
    assert found(item) == [f"warning base.checklist[0].check.{name}: means nothing for a file check"]


def test_a_judgement_needs_a_rubric_or_criteria_and_not_both() -> None:
    message = "base.checklist[0].check: a quality check needs either a rubric or criteria, has"
    assert errors(quality()) == [f"{message} neither"]
    assert errors(quality(rubric=(criterion(),), criteria="short")) == [f"{message} both"]


def test_only_a_judgement_with_neither_rubric_nor_criteria_lacks_something() -> None:
    base_case = BaseCase(type="quality", pass_threshold=3)
    assert [one.missing for one in problems_of_base_case(base_case, ())] == [True]
    base_case = BaseCase(type="quality", pass_threshold=3, rubric=(criterion(),), criteria="short")
    assert [one.missing for one in problems_of_base_case(base_case, ())] == [False]


def test_blank_criteria_judge_nothing() -> None:
    assert errors(quality(criteria=" ")) == ["base.checklist[0].check.criteria: is blank; say what is judged"]


def test_a_judgement_without_a_threshold_lacks_it() -> None:
    (problem,) = problems_of_base_case(BaseCase(type="quality", criteria="short"), ("base",))
    assert str(problem) == "base.pass_threshold: a quality check needs a threshold from 1 to 5"
    assert problem.missing


@pytest.mark.parametrize("threshold", [0.0, 0.99, 5.01, -1.0, float("nan"), float("inf")])
def test_a_threshold_off_the_scale_is_invalid(threshold: float) -> None:
    assert errors(quality(criteria="short", pass_threshold=threshold)) == [
        f"base.checklist[0].check.pass_threshold: {threshold:g} is not between 1 and 5, the scale of scores"
    ]


@pytest.mark.parametrize("threshold", [1, 3.5, 5])
def test_a_threshold_on_the_scale_is_valid(threshold: float) -> None:
    assert found(quality(criteria="short", pass_threshold=threshold)) == []


# --- rubrics -----------------------------------------------------------------------------------------------------

RUBRIC = "base.checklist[0].check.rubric"


def test_an_empty_rubric_is_invalid() -> None:
    assert errors(rubric()) == [f"{RUBRIC}: is empty; name at least one criterion"]


@pytest.mark.parametrize("weight", [0.0, -0.5, float("nan"), float("inf")])
def test_a_weight_is_a_positive_number(weight: float) -> None:
    assert errors(rubric(criterion(weight=1.0), criterion("small", weight))) == [
        f"{RUBRIC}[1].weight: {weight:g} is not a positive number"
    ]


@pytest.mark.parametrize("level", [0, 6, -1])
def test_a_level_is_on_the_scale(level: int) -> None:
    assert errors(rubric(criterion(levels={1: "bad", level: "?"}))) == [
        f"{RUBRIC}[0].levels: level {level} is not on the scale from 1 to 5"
    ]


def test_a_criterion_has_a_name_of_its_own() -> None:
    assert errors(rubric(criterion(" "))) == [f"{RUBRIC}[0].criterion: is blank; name what is scored"]
    assert errors(rubric(criterion("clear", 0.5), criterion("clear", 0.5))) == [
        f"{RUBRIC}: names the criterion 'clear' twice"
    ]


def test_weights_that_do_not_sum_to_one_are_only_doubtful() -> None:
    assert found(rubric(criterion("clear", 0.5), criterion("small", 0.75))) == [
        f"warning {RUBRIC}: the weights sum to 1.25, not 1; each is divided by the sum"
    ]


def test_weights_that_sum_to_one_but_for_rounding_are_fine() -> None:
    assert found(rubric(*(criterion(name, 0.1) for name in "abcdefghij"))) == []


def test_what_can_fail_by_itself_is_counted_and_an_any_of_fails_as_one() -> None:
    three = ChecklistItem(item="all", group=(passes("a"), ChecklistItem(item="some", any_of=(passes(), passes()))))
    assert count_repairable(base_case_tree(BaseCase(checklist=(passes("one"), three)))) == 3
    assert count_repairable(base_case_tree(BaseCase(type="file", value="x"))) == 1
    assert count_repairable(atom_check_tree(AtomCheck(any_of=(passes(), passes())), "A1")) == 1


def test_an_item_that_checks_nothing_is_a_choice_among_nothing() -> None:
    assert base_case_tree(BaseCase(checklist=(ChecklistItem(item="x"),))) == AllOf("base case", (AnyOf("x", ()),))


def test_a_single_check_without_a_type_is_a_command() -> None:
    check = Check(type="command", value="true")
    assert base_case_tree(BaseCase(value="true")) == AllOf("base case", (Leaf("command: true", check),))
    assert atom_check_tree(AtomCheck(value="true"), "A1") == Leaf("A1", check)


def test_an_empty_rubric_is_one_problem_and_names_given_twice_are_told_in_order() -> None:
    assert len(found(rubric())) == 1
    twice = rubric(*(criterion(name, 0.25) for name in ("b", "a", "b", "a")))
    assert [one.partition("criterion ")[2] for one in errors(twice)] == ["'a' twice", "'b' twice"]


def test_where_an_item_is_wrong_is_told_down_to_the_last() -> None:
    group = ChecklistItem(item="all", group=(passes(), ChecklistItem(item="some", any_of=(passes(value=" "),))))
    assert errors(passes(), group) == [
        "base.checklist[1].group[1].any_of[0].check.value: a command check needs a value"
    ]


# --- what decides an atom ----------------------------------------------------------------------------------------

TRUE = Check(type="command", value="true")
COVERED = BaseCase(
    checklist=(
        passes("tests"),
        ChecklistItem(
            item="docs",
            group=(passes("readme"), ChecklistItem(item="guide", any_of=(passes("html"), passes("pdf")))),
        ),
        passes("reads well", "a stranger understands it", "assertion"),
        ChecklistItem(item="mixed", group=(passes("spelling"), quality(criteria="short"))),
    )
)


def decided(*covers: str, check: AtomCheck | None = None) -> Any:
    return decided_by(check, covers, COVERED, "A1")


def test_an_atom_is_decided_by_its_own_check_or_by_the_one_item_it_covers() -> None:
    assert decided() is None
    assert decided(check=AtomCheck(type="command", value="true")) == Leaf("A1", TRUE)
    assert decided("tests") == Leaf("tests", TRUE)
    assert decided("guide") == AnyOf("guide", (Leaf("html", TRUE), Leaf("pdf", TRUE)))
    assert decided("html") == Leaf("html", TRUE), "items at any depth are covered"


def test_its_own_check_and_all_that_it_covers_have_to_pass() -> None:
    own = AtomCheck(type="file", value="out.txt")
    assert decided("readme", "tests", check=own) == AllOf(
        "A1", (Leaf("A1", Check(type="file", value="out.txt")), Leaf("tests", TRUE), Leaf("readme", TRUE))
    )


def test_what_has_to_be_judged_does_not_decide_an_atom() -> None:
    assert decided("reads well", "mixed", "nothing of the kind") is None
    assert decided("reads well", "tests") == Leaf("tests", TRUE)
    assert decided("spelling") == Leaf("spelling", TRUE)


def test_items_are_found_at_any_depth_each_before_those_inside_of_it() -> None:
    names = [one.name for one in items_of(base_case_tree(COVERED))]
    assert names == ["tests", "docs", "readme", "guide", "html", "pdf", "reads well", "mixed", "spelling", "code"]


@pytest.mark.parametrize(
    ("covers", "expected"),
    [
        (("docs",), {"docs / readme", "docs / guide"}),
        (("guide",), {"docs / guide"}),
        (("html",), {"docs / guide"}),
        (("tests", "readme"), {"tests", "docs / readme"}),
        (("nothing",), set()),
        ((), set()),
    ],
)
def test_a_verdict_can_call_failing_what_is_inside_of_an_item_and_an_any_of_as_one(
    covers: tuple[str, ...], expected: set[str]
) -> None:
    assert failing_items_of(COVERED, covers) == expected
