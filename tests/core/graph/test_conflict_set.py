"""Going back to the right choice: which groups an atom rests on, in which order, and that no combination is lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import Backtracked, Retry
from aotloop.core.events import AtomFailed, AtomResolved, AtomStarted
from aotloop.core.graph.conflict_set import (
    conflict_set,
    earlier_than,
    group_order,
    group_to_switch,
    later_than,
    ways_around,
)
from aotloop.core.graph.work_graph import Graph
from aotloop.core.invariants import findings_of
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Constraints, Decomposition, Loop, OrGroup
from aotloop.core.policy.turns import patience
from tests.loops import a_large_loop as a_loop
from tests.loops import atom

ONE_ATTEMPT = Constraints(max_attempts=1)


PATIENT = patience(a_loop(atom("A1")))
"""Of a loop in which nothing was resolved yet, per choice."""


def fail(loop: Loop, atom_id: str) -> list[object]:
    advance(loop, AtomStarted(atom=atom_id))
    return list(advance(loop, AtomFailed(atom=atom_id, reason="broke", at="noon")))


def impatient(loop: Loop, *atom_ids: str) -> Loop:
    """The next failure of one of these is more than bad luck explains."""
    loop.atoms = [replace(one, failures=9 * PATIENT) if one.id in atom_ids else one for one in loop.atoms]
    return loop


def fail_at_last(loop: Loop, atom_id: str) -> list[object]:
    impatient(loop, atom_id)
    return fail(loop, atom_id)


def resolve(loop: Loop, atom_id: str) -> None:
    advance(loop, AtomStarted(atom=atom_id))
    advance(loop, AtomResolved(atom=atom_id, summary="done"))


def two_groups() -> Loop:
    """A (A1 or A2) ← b (B1 or B2) ← Z."""
    return a_loop(
        atom("A1", or_group="a"),
        atom("A2", or_group="a"),
        atom("B1", "A1", or_group="b"),
        atom("B2", "A1", or_group="b"),
        atom("Z", "B1"),
        atom("apart", status="resolved"),
        constraints=ONE_ATTEMPT,
    )


def test_an_atom_rests_on_its_own_group_and_on_those_of_what_it_needs() -> None:
    graph = Graph(two_groups())
    assert conflict_set(graph, "A1") == {"a"}
    assert conflict_set(graph, "B1") == {"a", "b"}
    assert conflict_set(graph, "Z") == {"a", "b"}
    assert conflict_set(graph, "apart") == set()


def test_a_part_rests_on_the_choice_it_is_a_part_of() -> None:
    loop = a_loop(
        atom("X", or_group="g"),
        atom("Y", or_group="g"),
        atom("C1"),
        atom("C2"),
        decompositions=[Decomposition(parent="X", children=("C1", "C2"), reason="r")],
        constraints=ONE_ATTEMPT,
    )
    assert conflict_set(Graph(loop), "C2") == {"g"}
    resolve(loop, "C1")
    effects = fail_at_last(loop, "C2")
    assert effects == [Backtracked(or_group="g", left="X", selected="Y", reset=("C1", "C2"), undone=("C1",))]
    assert (loop.or_groups["g"].failed, loop.or_groups["g"].blames) == (("X",), {"X": 1})


def test_groups_come_after_those_they_rest_on_whatever_the_order_of_the_file() -> None:
    loop = two_groups()
    loop.or_groups = {"b": loop.or_groups["b"], "a": loop.or_groups["a"]}
    assert group_order(Graph(loop)) == {"a": 0, "b": 1}


def test_the_latest_choice_is_given_up_first_and_is_only_blamed() -> None:
    loop = two_groups()
    resolve(loop, "A1")
    resolve(loop, "B1")
    switched = Backtracked(or_group="b", left="B1", selected="B2", reset=("B1", "Z"), undone=("B1",))
    assert fail_at_last(loop, "Z") == [switched]
    assert loop.or_groups["b"] == OrGroup(
        choices=("B1", "B2"), selected="B2", blamed={"B1": ("a",)}, blames={"B1": 1}, seen=("B2",)
    )
    assert {one.id: one.status for one in loop.atoms}["A1"] == "resolved"


def test_when_an_earlier_group_switches_what_was_only_blamed_is_possible_again() -> None:
    loop = two_groups()
    for step in ("A1", "B1"):
        resolve(loop, step)
    fail_at_last(loop, "Z")
    resolve(loop, "B2")
    fail_at_last(loop, "Z")
    assert (loop.or_groups["a"].selected, loop.or_groups["a"].blamed) == ("A2", {"A1": ()})
    assert (loop.or_groups["b"].selected, loop.or_groups["b"].blamed) == ("B2", {})
    assert Graph(loop).ready() == ["A2"]


def test_a_choice_that_failed_itself_and_rests_on_no_other_has_failed_in_this_round() -> None:
    loop = two_groups()
    fail(loop, "A1")
    assert loop.or_groups["a"] == OrGroup(choices=("A1", "A2"), selected="A2", failed=("A1",), seen=("A2",))


def test_a_choice_that_failed_itself_may_do_better_on_other_ground() -> None:
    loop = two_groups()
    resolve(loop, "A1")
    fail(loop, "B1")
    assert (loop.or_groups["b"].selected, loop.or_groups["b"].blamed) == ("B2", {"B1": ("a",)})
    fail_at_last(loop, "B2")
    assert (loop.or_groups["a"].selected, loop.or_groups["b"].blamed) == ("A2", {})
    resolve(loop, "A2")
    assert Graph(loop).ready() == ["B2"]


def test_what_only_a_choice_needs_is_avoided_by_another_choice() -> None:
    loop = a_loop(atom("B"), atom("X", "B", or_group="g"), atom("Y", or_group="g"), constraints=ONE_ATTEMPT)
    assert [type(one) for one in fail(loop, "B")] == [Retry]
    switched = fail_at_last(loop, "B")[0]
    assert isinstance(switched, Backtracked)
    assert (switched.left, switched.selected, Graph(loop).ready()) == ("X", "Y", ["Y"])


def test_an_exhausted_set_grows_by_what_its_choices_were_blamed_with() -> None:
    """B2 has nothing to do with group a, but B1 was given up only together with A1."""
    loop = a_loop(
        atom("A1", or_group="a", status="resolved"),
        atom("A2", or_group="a"),
        atom("B1", or_group="b"),
        atom("B2", or_group="b"),
        atom("Z", "B2"),
        or_groups={
            "a": OrGroup(choices=("A1", "A2"), selected="A1"),
            "b": OrGroup(choices=("B1", "B2"), selected="B2", blamed={"B1": ("a",)}),
        },
        constraints=ONE_ATTEMPT,
    )
    assert group_to_switch(Graph(loop), {"b"}) == ("a", {"a", "b"})
    resolve(loop, "B2")
    fail_at_last(loop, "Z")
    assert (loop.or_groups["a"].selected, loop.or_groups["b"].selected) == ("A2", "B2")
    assert loop.or_groups["b"].blamed == {}, "it may go together with A2"
    assert [one for one in findings_of(loop) if one.level == "error"] == []


def test_with_nothing_to_go_back_to_choices_go_on_taking_turns() -> None:
    loop = two_groups()
    impatient(loop, "A1", "A2")
    fail(loop, "A1")
    (switched,) = fail(loop, "A2")
    assert isinstance(switched, Backtracked)
    assert (switched.selected, loop.or_groups["a"].round) == ("A1", 1)


# --- no combination is lost --------------------------------------------------------------------------------------

Outcome = Callable[[Loop, str], bool]


@st.composite
def puzzles(draw: st.DrawFn) -> tuple[Loop, dict[str, frozenset[tuple[str, ...]]]]:
    """A small graph of atoms and groups, and for every atom the combinations of choices it cannot be built on."""
    atoms = []
    earlier: list[str] = []
    for number in range(draw(st.integers(2, 5))):
        needs = tuple(draw(st.sets(st.sampled_from(earlier), max_size=2))) if earlier else ()
        choices = draw(st.integers(1, 3))
        name = f"U{number}"
        group = f"g{number}" if choices > 1 else None
        ids = [f"{name}{letter}" for letter in "abc"[:choices]]
        atoms += [atom(one, *needs, or_group=group) for one in ids]
        earlier.append(ids[0])
    loop = a_loop(*atoms, constraints=ONE_ATTEMPT)
    order = list(loop.or_groups)
    bad: dict[str, frozenset[tuple[str, ...]]] = {}
    for one in loop.atoms:
        rests_on = sorted(conflict_set(Graph(loop), one.id), key=order.index)
        combinations = list(product(*(loop.or_groups[name].choices for name in rests_on)))
        bad[one.id] = frozenset(draw(st.sets(st.sampled_from(combinations), max_size=len(combinations))))
    return loop, bad


def succeeds(loop: Loop, bad: dict[str, frozenset[tuple[str, ...]]], atom_id: str) -> bool:
    rests_on = sorted(conflict_set(Graph(loop), atom_id), key=list(loop.or_groups).index)
    return tuple(loop.or_groups[name].selected for name in rests_on) not in bad[atom_id]


def has_solution(loop: Loop, bad: dict[str, frozenset[tuple[str, ...]]]) -> bool:
    for combination in product(*(group.choices for group in loop.or_groups.values())):
        tried = loop.snapshot()
        for (name, group), choice in zip(loop.or_groups.items(), combination, strict=True):
            tried.or_groups[name] = replace(group, selected=choice)
        if all(succeeds(tried, bad, one) for one in Graph(tried).required):
            return True
    return False


@given(puzzles(), st.randoms(use_true_random=False))
def test_if_some_combination_works_it_is_found_and_if_none_does_the_loop_does_not_pretend(
    puzzle: tuple[Loop, dict[str, frozenset[tuple[str, ...]]]], chance: object
) -> None:
    loop, bad = puzzle
    solvable = has_solution(loop, bad)
    combinations = 1
    for group in loop.or_groups.values():
        combinations *= len(group.choices)
    most = combinations * (len(loop.atoms) + 1) * 2 * (PATIENT if solvable else 2)  # what has no end need not be long
    for _ in range(most):
        ready = Graph(loop).ready()
        if not ready:
            break
        one = chance.choice(ready)  # type: ignore[attr-defined]
        if succeeds(loop, bad, one):
            resolve(loop, one)
        else:
            fail(loop, one)
            impatient(loop, *(atom.id for atom in loop.atoms if atom.failures > 1))
        assert [str(found) for found in findings_of(loop) if found.level == "error"] == []
    assert (Graph(loop).unresolved() == []) == solvable, "what is not solved goes on until a limit ends it"


# --- what an atom rests on, by example ---------------------------------------------------------------------------


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def choices(name: str, *depends_on: str) -> list[Atom]:
    return [atom(f"{name.upper()}{number}", *depends_on, or_group=name) for number in (1, 2)]


def rests_on(loop: Loop, atom_id: str) -> set[str]:
    return conflict_set(Graph(loop), atom_id)


def test_a_repair_rests_on_all_that_is_required_and_that_of_a_whole_on_its_parts() -> None:
    loop = a_loop(
        *choices("a"), *choices("b", "A1"), atom("V", or_group="c"), atom("U", "B1", or_group="c"),
        *choices("d"), atom("P"), atom("R", repairs="tests"), atom("S", repairs="P"),
        decompositions=[split("P", "D1", "S")],
    )  # fmt: skip
    assert rests_on(loop, "R") == {"c", "d"}
    assert rests_on(loop, "S") == {"d"}


def test_a_choice_that_is_not_selected_rests_on_what_it_needs_itself() -> None:
    loop = a_loop(*choices("a"), atom("X", or_group="g"), atom("Y", "A1", or_group="g"))
    assert (rests_on(loop, "X"), rests_on(loop, "Y")) == ({"g"}, {"a", "g"})


def test_through_a_group_it_rests_on_what_the_selected_choice_needs() -> None:
    loop = a_loop(*choices("a"), atom("X", "A1", or_group="g"), atom("Y", or_group="g"), atom("Z", "Y"))
    assert rests_on(loop, "Z") == {"a", "g"}


def test_what_it_needs_counts_with_all_its_parts_and_what_it_is_a_part_of_without_the_others() -> None:
    loop = a_loop(
        *choices("a"), *choices("b"), atom("P"), atom("Q"), atom("C"), atom("Z", "P"),
        decompositions=[split("P", "Q", "B1", "C"), split("Q", "A1")],
    )  # fmt: skip
    assert rests_on(loop, "Z") == rests_on(loop, "P") == {"a", "b"}
    assert rests_on(loop, "C") == set()


def test_a_name_that_is_no_atom_and_a_cycle_do_not_hide_the_rest() -> None:
    loop = a_loop(*choices("a"), atom("Z", "A1", "gone"), atom("M", "A1", "N"), atom("N", "M"))
    assert rests_on(loop, "Z") == rests_on(loop, "M") == {"a"}


def test_what_something_needs_in_any_case_cannot_be_avoided() -> None:
    loop = a_loop(atom("A"), atom("X", "A", or_group="g"), atom("Y", or_group="g"))
    assert ways_around(Graph(loop), "A") == {"g": ["Y"]}
    loop = a_loop(atom("A"), atom("Z", "A"), atom("X", "A", "B", or_group="g"), atom("Y", or_group="g"), atom("B", "A"))
    assert ways_around(Graph(loop), "A") == {}
    assert ways_around(Graph(a_loop(atom("A"))), "A") == {}


def test_only_choices_that_are_taken_are_ways_around_and_never_its_own_group() -> None:
    loop = a_loop(
        *choices("w"), atom("X", "W1", or_group="g"), atom("Y", or_group="g"), atom("V", or_group="h"),
        atom("U", "W1", or_group="h"),
    )  # fmt: skip
    assert ways_around(Graph(loop), "W1") == {"g": ["Y"]}


def test_blame_is_followed_through_all_groups_that_have_nothing_left() -> None:
    loop = a_loop(*choices("a"), *choices("b"), *choices("c"))
    given_up = {"b": {"B2": ("a",)}, "c": {"C2": ("b", "gone")}}
    for name, blamed in given_up.items():
        loop.or_groups[name] = replace(loop.or_groups[name], blamed=blamed)
    assert group_to_switch(Graph(loop), {"c"}) == ("a", {"a", "b", "c"})
    loop.or_groups["a"] = replace(loop.or_groups["a"], failed=("A2",))
    assert group_to_switch(Graph(loop), {"c"}) is None


def test_earlier_and_later_groups_are_told_in_their_order() -> None:
    graph = Graph(a_loop(*choices("c", "A1"), *choices("b"), *choices("a")))
    assert group_order(graph) == {"b": 0, "a": 1, "c": 2}
    assert earlier_than(graph, "c", {"a", "b", "c"}) == ("b", "a")
    assert (later_than(graph, "b"), later_than(graph, "a"), later_than(graph, "c")) == (["a", "c"], ["c"], [])
