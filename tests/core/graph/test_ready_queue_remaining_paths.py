"""Remaining paths follow a change, to its end, and no further."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.graph.ready_queue import NONE, PATH_SLACK, Paths
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop
from tests.loops import a_loop, atom


def chain(length: int) -> Loop:
    """Each waits for the one before; estimates are one minute."""
    return a_loop(*(atom(f"A{one}", *([f"A{one - 1}"] if one else [])) for one in range(length)))


def estimated(graph: Graph, atom_id: str, minutes: float) -> None:
    graph.atoms[atom_id] = replace(graph.atoms[atom_id], estimate=minutes)
    graph.loop.atoms[graph.position[atom_id]] = graph.atoms[atom_id]


@pytest.mark.parametrize("minutes", [0.0, 1.0, 5.0])
def test_a_change_at_the_end_of_a_long_chain_reaches_its_beginning(minutes: float) -> None:
    graph = Graph(chain(4 * PATH_SLACK))
    paths = Paths(graph)
    estimated(graph, f"A{4 * PATH_SLACK - 1}", minutes)
    paths.reckon(f"A{4 * PATH_SLACK - 1}")
    assert paths.settle()
    assert graph.remaining_path == Graph(graph.loop).remaining_path
    assert paths.changed == (set(graph.atoms) if minutes != 1.0 else set())


def test_it_goes_no_further_than_values_change() -> None:
    graph = Graph(a_loop(atom("A"), atom("B", "A"), atom("C", "A", estimate=9.0)))
    paths = Paths(graph)
    estimated(graph, "B", 2.0)
    paths.reckon("B")
    assert paths.settle()
    assert (paths.changed, graph.remaining_path) == ({"B"}, {"A": 10.0, "B": 2.0, "C": 9.0})


@pytest.mark.parametrize(("minutes", "path"), [(2.0, 5.0), (4.0, 5.0), (9.0, 10.0)])
def test_where_the_longest_path_became_shorter_another_may_be_the_longest(minutes: float, path: float) -> None:
    graph = Graph(a_loop(atom("A"), atom("B", "A", estimate=7.0), atom("C", "A", estimate=4.0)))
    paths = Paths(graph)
    estimated(graph, "B", minutes)
    paths.reckon("B")
    assert paths.settle()
    assert graph.remaining_path["A"] == path


def test_what_is_no_longer_required_counts_no_longer_and_comes_back() -> None:
    graph = Graph(a_loop(atom("A"), atom("B", "A", estimate=7.0)))
    paths = Paths(graph)
    graph.required.discard("B")
    paths.tell("B", paths.of("B"))
    assert paths.settle()
    assert graph.remaining_path["A"] == 1.0
    graph.required.add("B")
    paths.tell("B")
    assert paths.settle()
    assert graph.remaining_path["A"] == 8.0


def test_of_two_changes_before_anybody_hears_of_them_the_longest_path_is_remembered() -> None:
    graph = Graph(a_loop(atom("A"), atom("B", "A", estimate=7.0)))
    paths = Paths(graph)
    for minutes in (3.0, 2.0):
        estimated(graph, "B", minutes)
        paths.reckon("B")
    assert paths.settle()
    assert graph.remaining_path["A"] == 3.0


def test_on_a_cycle_it_gives_up_after_as_many_steps_as_computing_all_anew_would_take() -> None:
    graph = Graph(a_loop(atom("A", "B"), atom("B", "A")))
    paths = Paths(graph)
    graph.required.update(("A", "B"))
    estimated(graph, "A", 5.0)
    paths.reckon("A")
    assert not paths.settle()


def test_an_atom_that_is_not_known_has_no_path() -> None:
    unknown: Any = Paths(Graph(chain(2))).of("nobody")
    assert unknown == NONE
