"""Contraction: what a worker is told is what it builds on and what failed before, however long the run was."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.core.context import context_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Binding, Constraints, Decomposition, Loop, TrailEntry
from tests.loops import a_loop, atom


def results(loop: Loop, atom_id: str) -> set[str]:
    return set(context_of(Graph(loop), atom_id).results)


def done(atom_id: str, *needs: str) -> Atom:
    return atom(atom_id, *needs, status="resolved")


def failure(atom_id: str, reason: str) -> TrailEntry:
    return TrailEntry(reason=reason, timestamp="noon", type="failure", atom=atom_id)


def test_only_results_of_direct_dependencies_are_told() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1", status="resolved"), atom("A3", "A2"))
    loop.bindings = {one: Binding(summary=f"did {one}") for one in ("A1", "A2")}
    assert context_of(Graph(loop), "A3").results == {"A2": Binding(summary="did A2")}


def test_of_a_group_the_selected_choice_is_told() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("Z", "X"))
    loop.or_groups["g"] = msgspec.structs.replace(loop.or_groups["g"], selected="Y")
    loop.bindings = {"X": Binding(summary="left"), "Y": Binding(summary="taken")}
    assert results(loop, "Z") == {"Y"}


def test_of_a_decomposed_atom_its_parts_are_told_down_to_the_last() -> None:
    loop = a_loop(
        atom("P"), atom("C"), atom("D"), atom("E"), atom("Z", "P"),
        decompositions=[
            Decomposition(parent="P", children=("C", "D"), reason="parts"),
            Decomposition(parent="D", children=("E",), reason="parts"),
        ],
        bindings={one: Binding(summary=one) for one in "PCDE"},
    )  # fmt: skip
    assert results(loop, "Z") == {"C", "E"}


def test_what_failed_before_is_told_once_the_latest_last_and_not_without_end() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), atom("Z"))
    loop.trail = [failure("X", "first"), failure("Z", "of another"), failure("X", "first")]
    assert context_of(Graph(loop), "Y").failures == ("X: first",)
    loop.trail += [failure("Y", f"reason {number}") for number in range(50)]
    told = context_of(Graph(loop), "Y").failures
    assert (len(told), told[-1]) == (5, "Y: reason 49")


def test_its_size_does_not_grow_with_the_length_of_the_run() -> None:
    def size(resolved: int) -> int:
        done = [atom(f"D{one}", status="resolved") for one in range(resolved)]
        loop = a_loop(*done, atom("A1", "D0"))
        loop.bindings = {one.id: Binding(summary="done") for one in done}
        loop.trail = [failure(one.id, "it broke") for one in done]
        return len(msgspec.json.encode(context_of(Graph(loop), "A1")))

    assert size(2000) == size(2)


def test_whether_it_may_be_split_follows_from_limits_group_and_history() -> None:
    loop = a_loop(atom("A1"), atom("A2", whole=True), atom("B1", or_group="G"), atom("B2", or_group="G"))
    assert context_of(Graph(loop), "A1").may_split
    assert not context_of(Graph(loop), "A2").may_split
    assert context_of(Graph(loop), "B1").may_split
    loop.or_groups["G"] = replace(loop.or_groups["G"], speculative=True)
    assert not context_of(Graph(loop), "B1").may_split
    constraints = replace(loop.objective.constraints, max_depth=0)
    loop.objective = replace(loop.objective, constraints=constraints)
    assert not context_of(Graph(loop), "A1").may_split


def test_it_may_be_split_down_to_the_depth_that_is_allowed_and_no_further() -> None:
    loop = a_loop(
        atom("P"), atom("C"), atom("D"),
        decompositions=[
            Decomposition(parent="P", children=("C",), reason="parts"),
            Decomposition(parent="C", children=("D",), reason="parts"),
        ],
        constraints=Constraints(max_depth=2),
    )  # fmt: skip
    assert [context_of(Graph(loop), one).may_split for one in ("P", "C", "D")] == [True, True, False]


def test_only_failures_are_told_of_what_is_in_the_trail() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"))
    loop.trail = [
        TrailEntry(or_group="g", selected="Y", reason="X failed", timestamp="noon", atom="X"),
        failure("X", "it broke"),
        TrailEntry(type="user_correction", atom="Y", reason="as I said", timestamp="noon"),
    ]
    assert context_of(Graph(loop), "Y").failures == ("X: it broke",)


def test_a_part_is_told_why_the_whole_failed() -> None:
    loop = a_loop(atom("P"), atom("C"), decompositions=[Decomposition(parent="P", children=("C",), reason="parts")])
    loop.trail = [failure("P", "its check failed")]
    assert context_of(Graph(loop), "C").failures == ("P: its check failed",)


def test_what_two_dependencies_share_is_told_once_and_the_others_still_follow() -> None:
    loop = a_loop(
        atom("P"), atom("C", status="resolved"), atom("D", status="resolved"), atom("Z", "P", "C", "D"),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )  # fmt: skip
    assert list(context_of(Graph(loop), "Z").results) == ["C", "D"]


def test_what_was_resolved_without_a_result_is_not_told() -> None:
    loop = a_loop(atom("A", status="resolved"), atom("B", status="resolved"), atom("Z", "A", "B"))
    del loop.bindings["A"]
    assert results(loop, "Z") == {"B"}


def test_a_group_that_is_named_twice_does_not_hide_what_comes_after_it() -> None:
    loop = a_loop(
        atom("X", or_group="g", status="resolved"), atom("Y", or_group="g"), atom("D", status="resolved"),
        atom("Z", "X", "Y", "D"),
    )  # fmt: skip
    assert list(context_of(Graph(loop), "Z").results) == ["X", "D"]


def test_a_whole_that_is_a_part_of_itself_comes_to_an_end() -> None:
    loop = a_loop(atom("P"), atom("Z", "P"), decompositions=[Decomposition(parent="P", children=("P",), reason="r")])
    assert results(loop, "Z") == set()


def test_of_many_dependencies_the_nearest_are_told_first() -> None:
    """Z needs each atom of a chain. The end of the chain builds on all others, so it is the nearest."""
    chain = [done("A0"), *(done(f"A{number}", f"A{number - 1}") for number in range(1, 40))]
    loop = a_loop(*chain, atom("Z", *(f"A{number}" for number in range(40))))
    loop.bindings.update({one.id: Binding(summary=f"did {one.id}") for one in chain})
    assert list(context_of(Graph(loop), "Z").results) == [f"A{number}" for number in reversed(range(40))]


def test_a_chain_of_thousands_is_no_matter() -> None:
    chain = [done("A0"), *(done(f"A{number}", f"A{number - 1}") for number in range(1, 5000))]
    loop = a_loop(*chain, atom("Z", "A0", "A4999"))
    loop.bindings.update({"A0": Binding(summary="first"), "A4999": Binding(summary="last")})
    assert list(context_of(Graph(loop), "Z").results) == ["A4999", "A0"]
