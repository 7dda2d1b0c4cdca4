"""Groups come after those they rest on; else, in the order of the file."""

from __future__ import annotations

from aotloop.core.graph.conflict_set import group_order
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Decomposition, Loop, OrGroup
from tests.loops import a_loop, atom


def choices(name: str, *depends_on: str) -> tuple[Atom, Atom]:
    """Two of them: name1 and name2."""
    return atom(f"{name}1", *depends_on, or_group=name), atom(f"{name}2", *depends_on, or_group=name)


def parts(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def order(loop: Loop) -> list[str]:
    found = group_order(Graph(loop))
    assert sorted(found.values()) == list(range(len(found)))
    return sorted(found, key=lambda name: found[name])


def test_groups_that_have_nothing_to_do_with_one_another_are_in_the_order_of_the_file() -> None:
    assert order(a_loop(*choices("b"), *choices("a"), *choices("c"))) == ["b", "a", "c"]


def test_a_group_comes_after_those_it_rests_on_through_whatever_is_between() -> None:
    loop = a_loop(*choices("c", "M"), *choices("b"), atom("M", "N"), atom("N", "a1"), *choices("a"))
    assert order(loop) == ["b", "a", "c"]


def test_atoms_before_a_group_do_not_put_it_behind_other_groups() -> None:
    loop = a_loop(atom("M"), atom("N", "M"), *choices("b", "N"), *choices("a"))
    assert order(loop) == ["b", "a"]


def test_a_group_inside_a_choice_comes_after_it_and_before_what_rests_on_the_choice() -> None:
    loop = a_loop(*choices("k", "g1"), *choices("h"), *choices("g"), decompositions=[parts("g1", "h1")])
    assert order(loop) == ["g", "h", "k"]


def test_to_rest_on_a_group_and_to_be_inside_one_are_one_step_each() -> None:
    loop = a_loop(*choices("c", "a1"), *choices("d"), *choices("a"), *choices("e"), decompositions=[parts("e1", "d1")])
    assert order(loop) == ["a", "e", "c", "d"]


def test_what_is_deep_inside_counts_as_well() -> None:
    loop = a_loop(
        *choices("k", "P"), *choices("h"), atom("P"), atom("Q"), decompositions=[parts("P", "Q"), parts("Q", "h1")]
    )
    assert order(loop) == ["h", "k"]


def test_where_an_alternative_needs_what_is_inside_a_choice_dependencies_alone_decide() -> None:
    loop = a_loop(
        atom("g1", or_group="g"), atom("g2", "h1", or_group="g"), *choices("h"), decompositions=[parts("g1", "h1")]
    )
    assert order(loop) == ["h", "g"]


def test_in_a_loop_that_is_not_valid_the_file_decides() -> None:
    assert order(a_loop(*choices("b", "a1"), *choices("a", "b1"))) == ["b", "a"]


def test_a_group_without_atoms_rests_on_nothing_and_comes_first() -> None:
    groups = {"a": OrGroup(choices=("a1", "a2"), selected="a1"), "b": OrGroup(choices=("b1",), selected="b1")}
    assert order(a_loop(*choices("a"), or_groups=groups)) == ["b", "a"]


def test_the_order_is_kept_with_the_graph() -> None:
    graph = Graph(a_loop(*choices("a"), *choices("b")))
    assert group_order(graph) is group_order(graph)
