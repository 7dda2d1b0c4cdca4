"""What is required, what is ready, what comes first, where is a cycle: by example, and against the definition."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from aotloop.core.graph.work_graph import Graph, highest_number
from aotloop.core.model import Decomposition, Loop, OrGroup
from aotloop.core.policy.turns import patience
from tests.core.generated import any_graphs, thoroughly, valid_loops
from tests.loops import a_large_loop as a_loop
from tests.loops import atom

PATIENT = patience(a_loop(atom("A1")))
"""Of a loop in which nothing was resolved yet."""


def ready(loop: Loop) -> list[str]:
    return Graph(loop).ready()


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def a_choice(selected: str = "X", *, failed: tuple[str, ...] = (), speculative: bool = False) -> dict[str, OrGroup]:
    return {"g": OrGroup(choices=("X", "Y"), selected=selected, failed=failed, speculative=speculative)}


def x_or_y(*others: Any, x: Any = "pending", y: Any = "pending", **group: Any) -> Loop:
    choices = [atom("X", or_group="g", status=x), atom("Y", or_group="g", status=y)]
    return a_loop(*choices, *others, or_groups=a_choice(**group))


# --- ready -------------------------------------------------------------------------------------------------------


def test_what_depends_on_nothing_is_ready() -> None:
    assert ready(a_loop(atom("A1"), atom("A2", "A1"))) == ["A1"]


def test_an_atom_is_ready_when_all_it_depends_on_is_resolved() -> None:
    waiting = a_loop(atom("A1", status="resolved"), atom("A2", status="in_progress"), atom("A3", "A1", "A2"))
    assert ready(waiting) == []
    assert Graph(waiting).why_not_ready("A3") == "A3 waits for A2"
    waiting.atoms[1] = replace(waiting.atoms[1], status="resolved")
    assert ready(waiting) == ["A3"]


@pytest.mark.parametrize("status", ["in_progress", "resolved"])
def test_only_pending_atoms_are_ready(status: Any) -> None:
    loop = a_loop(atom("A1", status=status))
    assert ready(loop) == []
    assert Graph(loop).why_not_ready("A1") == f"A1 is {status}, not pending"


def test_a_decomposed_parent_is_not_executable() -> None:
    loop = a_loop(atom("P"), atom("C"), atom("D"), decompositions=[split("P", "C", "D")])
    assert ready(loop) == ["C", "D"]
    assert Graph(loop).why_not_ready("P") == "P was decomposed; it resolves by itself when C, D have"


def test_what_depends_on_a_decomposed_parent_waits_for_it() -> None:
    loop = a_loop(atom("P"), atom("C", status="in_progress"), atom("Q", "P"), decompositions=[split("P", "C")])
    assert ready(loop) == []
    assert Graph(loop).why_not_ready("Q") == "Q waits for P"


def test_a_choice_that_is_not_selected_is_not_executable() -> None:
    loop = x_or_y()
    assert ready(loop) == ["X"]
    assert Graph(loop).why_not_ready("Y") == "group g has selected X, not Y"


def test_in_a_speculative_group_every_untried_choice_is_ready() -> None:
    assert ready(x_or_y(speculative=True)) == ["X", "Y"]
    assert ready(x_or_y(selected="Y", failed=("X",), speculative=True)) == ["Y"]


def test_racers_of_a_settled_group_are_not_ready() -> None:
    loop = x_or_y(x="resolved", speculative=True)
    assert ready(loop) == []
    assert Graph(loop).why_not_ready("Y") == "group g is settled by X"


def test_a_failed_choice_is_not_ready_even_if_it_stays_selected() -> None:
    loop = x_or_y(selected="Y", failed=("X", "Y"))
    assert ready(loop) == []
    assert Graph(loop).why_not_ready("Y") == "Y has had its turn in this round of g"


def test_a_dependency_on_one_choice_is_met_by_whichever_is_selected() -> None:
    assert ready(x_or_y(atom("Q", "X"), selected="Y", y="resolved")) == ["Q"]
    assert "Q" not in ready(x_or_y(atom("Q", "X"), selected="Y", x="resolved"))


def test_a_child_that_is_a_choice_stands_for_its_group() -> None:
    loop = x_or_y(atom("P"), selected="Y", y="resolved", failed=("X",))
    loop.decompositions.append(split("P", "X"))
    assert Graph(loop).waits_for("P") == []


def test_what_only_an_unselected_choice_depends_on_is_not_ready() -> None:
    loop = a_loop(atom("D"), atom("X", or_group="g"), atom("Y", "D", or_group="g"), atom("E"), or_groups=a_choice())
    assert sorted(ready(loop)) == ["E", "X"]
    assert Graph(loop).why_not_ready("D") == "nothing required depends on D"


def test_the_choices_of_a_group_that_nothing_required_needs_are_not_ready() -> None:
    outer = OrGroup(choices=("M", "N"), selected="M")
    loop = x_or_y(atom("M", or_group="h"), atom("N", "X", or_group="h"), speculative=True)
    loop.or_groups["h"] = outer
    assert ready(loop) == ["M"]
    assert Graph(loop).why_not_ready("X") == "nothing required depends on group g"


# --- required ----------------------------------------------------------------------------------------------------


def required(loop: Loop) -> set[str]:
    return Graph(loop).required


def test_an_atom_nothing_depends_on_is_required() -> None:
    assert required(a_loop(atom("A1"), atom("A2", "A1"), atom("A3"))) == {"A1", "A2", "A3"}


def test_an_unselected_choice_and_its_parts_are_not_required() -> None:
    loop = x_or_y(atom("C"), atom("D"))
    loop.decompositions.append(split("Y", "C"))
    assert required(loop) == {"X", "D"}


def test_a_part_of_an_unselected_choice_that_something_else_needs_is_required() -> None:
    loop = x_or_y(atom("C"), atom("Q", "C"))
    loop.decompositions.append(split("Y", "C"))
    assert required(loop) == {"X", "C", "Q"}


def test_a_choice_is_required_if_anything_depends_on_any_choice_of_its_group() -> None:
    assert required(x_or_y(atom("Q", "Y"))) == {"X", "Q"}


def test_what_is_needed_only_along_an_unselected_branch_is_not_required() -> None:
    loop = a_loop(
        atom("E"), atom("D", "E"), atom("X", or_group="g"), atom("Y", "D", or_group="g"), or_groups=a_choice()
    )
    assert required(loop) == {"X"}


def test_only_required_atoms_count_as_unresolved() -> None:
    loop = x_or_y(atom("A1", status="resolved"), atom("A2", status="in_progress"), atom("A3"))
    assert Graph(loop).unresolved() == ["X", "A2", "A3"]


# --- order -------------------------------------------------------------------------------------------------------


def test_the_longest_remaining_path_comes_first() -> None:
    loop = a_loop(atom("short"), atom("long"), atom("B", "long"), atom("C", "B"), atom("D", "short"))
    assert ready(loop) == ["long", "short"]


def test_paths_are_weighted_by_estimates() -> None:
    loop = a_loop(atom("many"), atom("B", "many"), atom("C", "B"), atom("slow"), atom("D", "slow", estimate=30))
    assert ready(loop) == ["slow", "many"]
    assert Graph(loop).remaining_path["slow"] == 31
    assert Graph(loop).remaining_path["many"] == 3


def test_an_atom_estimated_at_nothing_weighs_nothing() -> None:
    assert Graph(a_loop(atom("A1", estimate=0), atom("A2", "A1"))).remaining_path == {"A1": 1, "A2": 1}


def test_decomposed_parents_add_nothing_to_a_path() -> None:
    loop = a_loop(
        atom("done", status="resolved", estimate=50),
        atom("P", estimate=50),
        atom("C"),
        atom("Q", "P"),
        decompositions=[split("P", "C")],
    )
    assert Graph(loop).remaining_path == {"done": 50, "P": 1, "C": 2, "Q": 1}


def test_of_equal_paths_the_one_with_more_consumers_comes_first() -> None:
    loop = a_loop(atom("one"), atom("two"), atom("B", "one"), atom("C", "two"), atom("D", "two"))
    assert ready(loop) == ["two", "one"]


def test_of_equals_the_first_in_the_file_comes_first() -> None:
    assert ready(a_loop(atom("Z"), atom("M"), atom("A"))) == ["Z", "M", "A"]


def test_one_consumer_that_names_an_atom_twice_is_one_consumer() -> None:
    loop = a_loop(atom("A1"), atom("A2"), atom("B", "A1"), atom("C", "A2", "A2"))
    assert ready(loop) == ["A1", "A2"]


def test_one_consumer_that_names_two_choices_of_a_group_is_one_consumer() -> None:
    loop = x_or_y(atom("B", "X", "Y"), atom("A1"), atom("C", "A1"))
    loop.atoms.insert(0, loop.atoms.pop(3))
    assert ready(loop) == ["A1", "X"]


def test_a_choice_that_is_not_selected_does_not_lengthen_a_path() -> None:
    loop = a_loop(
        atom("A1"),
        atom("B", "A1"),
        atom("X", or_group="g"),
        atom("Y", "A1", or_group="g", estimate=60),
        or_groups=a_choice(),
    )
    assert Graph(loop).remaining_path["A1"] == 2


def test_everything_comes_after_all_that_wait_for_it() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"), atom("A3", "A1", "A2"))
    assert Graph(loop).consumers_first == ["A3", "A2", "A1"]


def test_atoms_on_a_cycle_come_last_and_are_not_lost() -> None:
    loop = a_loop(atom("A1", "A2"), atom("A2", "A1"), atom("A3"))
    assert Graph(loop).consumers_first == ["A3", "A1", "A2"]


# --- structure ---------------------------------------------------------------------------------------------------


def test_downstream_is_all_that_waits_directly_or_not() -> None:
    loop = x_or_y(atom("Q", "Y"), atom("R", "Q"), atom("P"), atom("free"))
    loop.decompositions.append(split("P", "R"))
    assert Graph(loop).downstream(["X"]) == {"Q", "R", "P"}
    assert Graph(loop).downstream(["free"]) == set()


def test_descendants_include_the_other_choices_of_a_child() -> None:
    loop = x_or_y(atom("P"), atom("C"), atom("D"))
    loop.decompositions += [split("P", "X", "C"), split("Y", "D")]
    assert Graph(loop).descendants("P") == {"X", "Y", "C", "D"}


def test_depth_counts_the_decompositions_above_an_atom() -> None:
    loop = a_loop(atom("P"), atom("C"), atom("D"), decompositions=[split("P", "C"), split("C", "D")])
    assert [Graph(loop).depth(one) for one in ("P", "C", "D")] == [0, 1, 2]


def test_depth_ends_even_if_decompositions_go_in_a_circle() -> None:
    loop = a_loop(atom("P"), atom("C"), decompositions=[split("P", "C"), split("C", "P")])
    assert Graph(loop).depth("P") == 1


def test_every_choice_of_a_group_is_as_deep_as_the_child_that_stands_for_it() -> None:
    loop = x_or_y(atom("P"))
    loop.decompositions.append(split("P", "X"))
    assert [Graph(loop).depth(one) for one in ("X", "Y")] == [1, 1]


def test_an_atom_decomposed_twice_has_the_children_of_both() -> None:
    loop = a_loop(atom("P"), atom("C"), atom("D"), decompositions=[split("P", "C"), split("P", "D")])
    assert Graph(loop).waits_for("P") == ["C", "D"]


def test_very_deep_graphs_are_no_problem() -> None:
    chain = [atom("A0"), *(atom(f"A{number}", f"A{number - 1}") for number in range(1, 5000))]
    graph = Graph(a_loop(*chain))
    assert graph.find_cycle() is None
    assert graph.ready() == ["A0"]
    assert graph.remaining_path["A0"] == 5000
    closed = a_loop(replace(chain[0], depends_on=("A4999",)), *chain[1:])
    assert len(Graph(closed).find_cycle() or []) == 5001


# --- against the definition --------------------------------------------------------------------------------------


class Definition:
    """The words, asked naively: nothing is remembered, and everything is looked for everywhere."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.status = {one.id: one.status for one in loop.atoms}

    def group(self, atom_id: str) -> OrGroup | None:
        return next((one for one in self.loop.or_groups.values() if atom_id in one.choices), None)

    def children(self, atom_id: str) -> list[str]:
        return [child for one in self.loop.decompositions if one.parent == atom_id for child in one.children]

    def needs(self, atom_id: str) -> list[str]:
        depends_on = [needed for one in self.loop.atoms if one.id == atom_id for needed in one.depends_on]
        return depends_on + self.children(atom_id)

    def consumers(self, atom_id: str) -> list[str]:
        group = self.group(atom_id)
        unit = group.choices if group is not None else (atom_id,)
        return [one.id for one in self.loop.atoms if any(needed in unit for needed in self.needs(one.id))]

    def required(self, atom_id: str) -> bool:
        group = self.group(atom_id)
        if group is not None and group.selected != atom_id:
            return False
        consumers = self.consumers(atom_id)
        return not consumers or any(map(self.required, consumers))

    def satisfied(self, atom_id: str) -> bool:
        group = self.group(atom_id)
        return self.status[group.selected if group is not None else atom_id] == "resolved"

    def ready(self, atom_id: str) -> bool:
        if self.status[atom_id] != "pending" or self.children(atom_id) or self.exhausted(atom_id):
            return False
        return self.wanted(atom_id) and all(map(self.satisfied, self.needs(atom_id)))

    def exhausted(self, atom_id: str) -> bool:
        (this,) = (one for one in self.loop.atoms if one.id == atom_id)
        return (this.repairs is not None or bool(self.children(atom_id))) and this.attempts >= PATIENT

    def wanted(self, atom_id: str) -> bool:
        group = self.group(atom_id)
        if group is None or atom_id == group.selected:
            return self.required(atom_id) and (group is None or atom_id not in group.failed)
        is_racing = group.speculative and atom_id not in group.failed and not self.satisfied(atom_id)
        return is_racing and self.required(group.selected)

    def path(self, atom_id: str) -> float:
        (this,) = (one for one in self.loop.atoms if one.id == atom_id)
        own = 1.0 if this.estimate is None else this.estimate
        if self.children(atom_id):
            own = 0.0
        return own + max(map(self.path, self.consumers(atom_id)), default=0.0)


@thoroughly
@given(valid_loops())
def test_ready_is_what_the_definition_says(loop: Loop) -> None:
    definition = Definition(loop)
    assert set(ready(loop)) == {one.id for one in loop.atoms if definition.ready(one.id)}


@thoroughly
@given(valid_loops())
def test_required_is_what_the_definition_says(loop: Loop) -> None:
    definition = Definition(loop)
    wanted = {one.id for one in loop.atoms if definition.required(one.id)}
    assert required(loop) == wanted
    assert Graph(loop).unresolved() == [one.id for one in loop.atoms if one.id in wanted and one.status != "resolved"]


@given(valid_loops())
def test_whatever_is_not_ready_has_a_reason_and_what_is_ready_has_none(loop: Loop) -> None:
    graph = Graph(loop)
    assert {one.id for one in loop.atoms if graph.why_not_ready(one.id) is None} == set(graph.ready())
    assert all(one.id in (graph.why_not_ready(one.id) or one.id) or one.or_group for one in loop.atoms)


@thoroughly
@given(valid_loops(largest_unit=1, most_units=8))
def test_ready_atoms_come_in_the_order_of_the_definition(loop: Loop) -> None:
    definition, order = Definition(loop), [one.id for one in loop.atoms]
    failures = {one.id: one.failures for one in loop.atoms}

    def rank(one: str) -> tuple[bool, float, int, int, int]:
        path, users = definition.path(one), len(definition.consumers(one))
        return failures[one] > 0, -path, -users, failures[one], order.index(one)

    assert ready(loop) == sorted(ready(loop), key=rank)


@given(valid_loops())
def test_every_atom_comes_once_and_after_its_consumers(loop: Loop) -> None:
    definition, order = Definition(loop), Graph(loop).consumers_first
    assert sorted(order) == sorted(one.id for one in loop.atoms)
    assert all(order.index(user) < order.index(one) for one in order for user in definition.consumers(one))


def closed_units(loop: Loop) -> set[str]:
    """The units (a group, or an atom without one) that reach themselves, by closing the relation step by step."""
    unit = {one.id: one.or_group or one.id for one in loop.atoms}
    definition = Definition(loop)
    reach = {name: {unit[need] for one in unit if unit[one] == name for need in definition.needs(one)}
             for name in set(unit.values())}  # fmt: skip
    for _ in reach:
        reach = {name: direct.union(*(reach[one] for one in direct)) for name, direct in reach.items()}
    return {name for name, reached in reach.items() if name in reached}


@thoroughly
@given(any_graphs())
def test_a_cycle_is_found_exactly_if_some_unit_reaches_itself(loop: Loop) -> None:
    assert (Graph(loop).find_cycle() is not None) == bool(closed_units(loop))


@thoroughly
@given(any_graphs())
def test_the_cycle_that_is_shown_exists(loop: Loop) -> None:
    cycle = Graph(loop).find_cycle()
    if cycle is None:
        return
    definition = Definition(loop)
    unit = {one.id: one.or_group or one.id for one in loop.atoms}
    assert unit[cycle[0]] == unit[cycle[-1]]
    for here, following in pairwise(cycle):
        members = [one for one in unit if unit[one] == unit[here]]
        assert any(following in definition.needs(one) for one in members)


@given(valid_loops())
def test_loops_built_in_order_have_no_cycle(loop: Loop) -> None:
    assert Graph(loop).find_cycle() is None


# --- numbers, bounds, and files that are not valid ---------------------------------------------------------------


def test_ids_of_sixteen_digits_are_counted_on_from_and_longer_ones_are_not() -> None:
    assert highest_number(["A7", "A" + "9" * 16]) == 9999999999999999
    assert highest_number(["A7", "A" + "9" * 17]) == 7


def test_of_several_that_wait_the_longest_path_counts() -> None:
    graph = Graph(a_loop(atom("A"), atom("B", "A", estimate=2.0), atom("C", "A", estimate=7.0)))
    assert graph.remaining_path == {"A": 8.0, "B": 2.0, "C": 7.0}


def test_a_choice_that_has_had_its_turn_is_not_exhausted_and_not_ready() -> None:
    for given_up in ({"failed": ("X",)}, {"blamed": {"X": ()}}):
        group = OrGroup(choices=("X", "Y"), selected="X", **given_up)
        loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), or_groups={"g": group})
        assert (Graph(loop).is_exhausted("X"), Graph(loop).is_exhausted("Y")) == (False, False)
        assert Graph(loop).why_not_wanted("X") == "X has had its turn in this round of g"


@pytest.mark.parametrize(("attempts", "expected"), [(PATIENT - 1, False), (PATIENT, True)])
def test_only_repairs_and_wholes_are_exhausted_when_patience_is_over(attempts: int, expected: bool) -> None:
    graph = Graph(
        a_loop(
            atom("A", attempts=99), atom("R", repairs="tests", attempts=attempts), atom("P", attempts=attempts),
            atom("C", attempts=99), decompositions=[split("P", "C")],
        )
    )  # fmt: skip
    assert [graph.is_exhausted(one) for one in "ARPC"] == [False, expected, expected, False]
    said = f"R has failed {PATIENT} times; a correction can grant it a retry"
    assert graph.why_not_ready("R") == (said if expected else None)


def test_what_was_never_tried_comes_first_then_the_longest_path_then_consumers_then_fewest_failures() -> None:
    loop = a_loop(
        atom("twice", failures=2), atom("once", failures=1), atom("long", failures=9), atom("after", "long"),
        atom("fresh"), atom("wide"), atom("B", "wide"), atom("C", "wide"), atom("narrow"), atom("D", "narrow"),
    )  # fmt: skip
    assert Graph(loop).ready() == ["wide", "narrow", "fresh", "long", "once", "twice"]


def test_a_choice_counts_with_the_failures_of_its_whole_unit() -> None:
    group = OrGroup(choices=("X", "Y", "later"), selected="X")
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g", failures=2), atom("A", failures=1), atom("B", failures=3),
        or_groups={"g": group},
    )  # fmt: skip
    assert Graph(loop).ready() == ["A", "X", "B"]


def test_parts_that_are_parts_of_one_another_come_to_an_end() -> None:
    parts = [split("P", "C"), split("C", "P")]
    graph = Graph(a_loop(atom("P"), atom("C"), decompositions=parts))
    assert graph.descendants("P") == {"P", "C"}
    assert graph.depth("P") == graph.depth("C") == 1


def test_of_an_atom_in_several_wholes_the_first_counts() -> None:
    parts = [split("P", "C"), split("R", "Q"), split("Q", "C")]
    graph = Graph(a_loop(atom("P"), atom("Q"), atom("R"), atom("C"), decompositions=parts))
    assert (graph.parents_of_unit("C"), graph.depth("C"), graph.depth("Q")) == (["P", "Q"], 1, 1)


def test_a_whole_that_is_no_atom_is_none() -> None:
    graph = Graph(a_loop(atom("C"), decompositions=[split("gone", "C")]))
    assert (graph.parents_of_unit("C"), graph.depth("C")) == ([], 0)


def test_a_cycle_is_found_wherever_it_is_in_the_file() -> None:
    assert Graph(a_loop(atom("B", "A"), atom("A"), atom("C", "D"), atom("D", "C"))).find_cycle() == ["C", "D", "C"]


def test_where_many_ways_lead_to_the_same_atom_each_is_looked_at_once() -> None:
    layers = [[f"{side}{number}" for side in "ab"] for number in range(60)]
    atoms = [atom(one) for one in layers[0]]
    atoms += [atom(one, *before) for before, layer in pairwise(layers) for one in layer]
    assert Graph(a_loop(*reversed(atoms))).find_cycle() is None


def test_what_is_no_atom_closes_no_cycle() -> None:
    loop = a_loop(atom("A", "gone"), decompositions=[split("gone", "A")])
    assert Graph(loop).find_cycle() is None
