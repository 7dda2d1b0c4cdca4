"""How a group leaves its choice: what was built on it is undone and nothing else; nothing is left for good."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import AtomResolved, AtomStarted, BranchSwitched
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.backtracking import begin_round, end_turn, free_what_is_out_of_order, given_up, leave
from aotloop.core.machine import advance
from aotloop.core.model import Binding, Decomposition, Generation, Loop, OrGroup, TrailEntry
from aotloop.errors import IllegalEvent
from tests.core.generated import errors_of, thoroughly, valid_loops
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def switch(loop: Loop, choice: str, group: str = "store") -> list[Effect]:
    return advance(loop, BranchSwitched(or_group=group, choice=choice, reason="too slow", at="noon"))


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


def choices(*, x: Any = "in_progress", y: Any = "pending") -> Loop:
    return a_loop(atom("X", or_group="store", status=x), atom("Y", or_group="store", status=y))


def a_shop() -> Loop:
    """The store is disk or memory; api and page are built on it, the logo is not; disk was done in two parts."""
    return a_loop(
        atom("schema", status="resolved"),
        atom("disk", "schema", or_group="store", status="resolved"),
        atom("memory", "schema", or_group="store"),
        atom("files", "schema", status="resolved"),
        atom("index", "schema", status="resolved", attempts=1),
        atom("api", "disk", status="resolved"),
        atom("page", "api", status="in_progress", attempts=1),
        atom("logo", status="resolved", attempts=1),
        atom("banner", "logo", status="in_progress"),
        decompositions=[Decomposition(parent="disk", children=("files", "index"), reason="parts")],
        trail=[TrailEntry(or_group="store", selected="disk", reason="durable", timestamp="dawn")],
    )


def test_a_switch_undoes_the_left_choice_and_what_was_built_on_it_and_nothing_else() -> None:
    loop = a_shop()
    assert switch(loop, "memory") == [
        Backtracked(
            or_group="store",
            left="disk",
            selected="memory",
            reset=("disk", "files", "index", "api", "page"),
            undone=("api", "disk", "files", "index"),
        )
    ]
    assert loop.control.generation == Generation(got_smaller=True)
    loop.control = a_shop().control
    assert loop == a_loop(
        atom("schema", status="resolved"),
        atom("disk", "schema", or_group="store"),
        atom("memory", "schema", or_group="store"),
        atom("files", "schema"),
        atom("index", "schema"),
        atom("api", "disk"),
        atom("page", "api"),
        atom("logo", status="resolved", attempts=1),
        atom("banner", "logo", status="in_progress"),
        decompositions=a_shop().decompositions,
        or_groups={"store": OrGroup(choices=("disk", "memory"), selected="memory", failed=("disk",), seen=("memory",))},
        trail=[*a_shop().trail, TrailEntry(or_group="store", selected="memory", reason="too slow", timestamp="noon")],
    )
    assert set(loop.bindings) == {"schema", "logo"}


def test_after_a_switch_only_the_new_choice_is_ready() -> None:
    loop = a_shop()
    switch(loop, "memory")
    assert Graph(loop).ready() == ["memory"]


def test_entries_that_a_switch_does_not_concern_are_the_very_same() -> None:
    loop = a_shop()
    before = loop.snapshot()
    switch(loop, "memory")
    same = [new.id for old, new in zip(before.atoms, loop.atoms, strict=True) if old is new]
    assert {"schema", "memory", "logo", "banner"} <= set(same)
    assert loop.bindings["logo"] is before.bindings["logo"]
    assert loop.trail[0] is before.trail[0]


def test_a_parent_resolved_through_the_left_choice_is_open_again() -> None:
    loop = a_loop(
        atom("P", status="resolved"),
        atom("X", or_group="store", status="resolved"),
        atom("Y", or_group="store"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="P", children=("X", "C"), reason="parts")],
    )
    switch(loop, "Y")
    assert statuses(loop) == {"P": "pending", "X": "pending", "Y": "pending", "C": "resolved"}
    assert set(loop.bindings) == {"C"}
    advance(loop, AtomStarted(atom="Y"))
    advance(loop, AtomResolved(atom="Y", summary="done"))
    assert statuses(loop)["P"] == "resolved"


def test_what_was_built_on_a_part_of_the_left_choice_is_undone_too() -> None:
    loop = a_shop()
    loop.atoms.append(atom("report", "index", status="resolved"))
    loop.bindings["report"] = Binding(summary="did report")
    switch(loop, "memory")
    assert statuses(loop)["report"] == "pending"
    assert "report" not in loop.bindings


def test_what_depends_on_another_choice_of_the_group_is_undone_too() -> None:
    loop = choices(x="resolved")
    loop.atoms.append(atom("Q", "Y", status="resolved"))
    switch(loop, "Y")
    assert statuses(loop)["Q"] == "pending"


@pytest.mark.parametrize(
    ("group", "choice", "why"),
    [
        ("nowhere", "Y", "there is no group nowhere; there are: store"),
        ("store", "Q", "Q is no choice of store: X, Y, Z, ghost"),
        ("store", "ghost", "ghost is not an atom yet; add it first"),
        ("store", "X", "X is selected already"),
    ],
)
def test_an_impossible_switch_is_refused(group: str, choice: str, why: str) -> None:
    loop = choices()
    loop.atoms += [atom("Z", or_group="store"), atom("Q")]
    loop.or_groups["store"] = OrGroup(choices=("X", "Y", "Z", "ghost"), selected="X", failed=("Z",))
    with refused(loop, why):
        switch(loop, choice, group)


def test_a_switch_without_any_group_says_that_there_is_none() -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, "there is no group store; there are: none"):
        switch(loop, "A1")


def test_a_choice_that_is_switched_to_has_to_be_an_atom_but_may_have_had_its_turn() -> None:
    loop = choices()
    loop.or_groups["store"] = OrGroup(choices=("X", "Y"), selected="X", blamed={"Y": ()})
    switch(loop, "Y")
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X",), round=1, seen=("Y",))


def test_when_a_choice_is_taken_that_has_had_its_turn_a_new_round_begins() -> None:
    loop = a_loop(*(atom(one, or_group="store") for one in ("A", "B", "C")))
    seen = []
    for one in ("B", "C", "A", "C"):
        switch(loop, one)
        group = loop.or_groups["store"]
        assert group.selected not in group.failed
        assert errors_of(loop) == []
        seen.append((group.failed, group.round, group.seen))
    assert seen == [
        (("A",), 0, ("B",)),
        (("A", "B"), 0, ("B", "C")),
        (("C",), 1, ("B", "C")),
        (("A",), 2, ("B", "C")),
    ]


def test_only_a_choice_that_was_never_selected_is_progress() -> None:
    loop = a_loop(*(atom(one, or_group="store") for one in ("A", "B")))
    progress = []
    for one in ("B", "A", "B"):
        loop.control = replace(loop.control, generation=Generation())
        switch(loop, one)
        progress.append(loop.control.generation.got_smaller)
    assert progress == [True, False, False]


def test_a_new_round_gives_every_choice_its_turn_again_and_forgets_no_failure() -> None:
    loop = a_loop(
        atom("X", or_group="g", attempts=2, failures=3, alike=2),
        atom("Y", or_group="g", failures=1),
        atom("P", or_group="g", attempts=4),
        atom("C"),
        atom("A1", attempts=1, failures=1),
        decompositions=[Decomposition(parent="P", children=("C",), reason="parts")],
    )
    group = OrGroup(choices=("X", "Y", "P", "later"), selected="X", failed=("X",), blamed={"Y": ()}, blames={"Y": 2})
    loop.or_groups["g"] = replace(group, hints={"X": ("A1",)}, seen=("Y",))
    before = loop.snapshot()
    begin_round(Board(loop), "g")
    assert loop.or_groups["g"] == replace(before.or_groups["g"], failed=(), blamed={}, round=1)
    assert loop.atoms[0] == atom("X", or_group="g", failures=3, alike=2)
    assert all(old is new for old, new in zip(before.atoms[1:], loop.atoms[1:], strict=True)), "the rest is as it was"


def test_what_was_left_keeps_its_failures_and_what_was_built_on_it_starts_afresh() -> None:
    failed: dict[str, Any] = {"attempts": 1, "failures": 3, "alike": 2, "partial": True}
    loop = a_loop(
        atom("X", or_group="store", **failed), atom("Y", or_group="store", **failed), atom("Z", "X", **failed),
        atom("C", **failed), decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
    )  # fmt: skip
    switch(loop, "Y")
    assert loop.atoms == [
        atom("X", or_group="store", **{**failed, "attempts": 0}),
        atom("Y", or_group="store", **failed),
        atom("Z", "X", alike=2),
        atom("C", alike=2),
    ], "what fails in the same way whatever it rests on is at fault itself"


@thoroughly
@given(valid_loops(), st.data())
def test_after_any_switch_all_that_waits_for_the_group_is_undone_and_all_else_is_as_it_was(
    loop: Loop, data: st.DataObject
) -> None:
    assume(loop.or_groups)
    name = data.draw(st.sampled_from(list(loop.or_groups)))
    choice = data.draw(st.sampled_from(loop.or_groups[name].choices))
    before, left = loop.snapshot(), loop.or_groups[name].selected
    try:
        (effect,) = switch(loop, choice, name)
    except IllegalEvent:
        return
    undone = undone_by_leaving(before, left)
    assert isinstance(effect, Backtracked)
    assert set(effect.reset) <= undone
    for old, new in zip(before.atoms, loop.atoms, strict=True):
        fresh = replace(old, status="pending", attempts=0)
        is_choice = old.id in before.or_groups[name].choices
        begins_a_turn = is_choice and choice in before.or_groups[name].failed and new.attempts == 0
        kept = replace(old, attempts=0) if begins_a_turn else old
        assert (
            new == (fresh if is_choice else replace(fresh, failures=0, partial=False))
            if old.id in undone
            else new == kept
        )
    assert loop.bindings == {one: kept for one, kept in before.bindings.items() if one not in undone}
    assert {**loop.or_groups, name: None} == {**before.or_groups, name: None}
    assert loop.trail[:-1] == before.trail


def undone_by_leaving(loop: Loop, left: str) -> set[str]:
    """The left choice and its parts (parts that are choices stand for their groups), and whoever waits for one.

    Nobody has built on a choice that is not the selected one of its group.
    """
    group_of = {one: group.choices for group in loop.or_groups.values() for one in group.choices}
    children = {
        (split.parent, member)
        for split in loop.decompositions
        for child in split.children
        for member in group_of.get(child, (child,))
    }
    waits = children | {
        (one.id, member)
        for one in loop.atoms
        for needed in one.depends_on
        for member in group_of.get(needed, (needed,))
    }
    parts = {left}
    while more := {child for parent, child in children if parent in parts} - parts:
        parts |= more
    undone = set(parts)
    idle = {one for group in loop.or_groups.values() for one in group.choices if one != group.selected} - parts
    while more := {user for user, needed in waits if needed in undone - idle} - undone:
        undone |= more
    return undone


# --- in this round ----------------------------------------------------------------------------------------------------


def groups(**blamed: dict[str, tuple[str, ...]]) -> Loop:
    """Groups a, b, c and d, in this order, of three choices each; the first is selected."""
    atoms = [atom(f"{name}{number}", or_group=name) for name in "abcd" for number in (1, 2, 3)]
    loop = a_loop(*atoms)
    for name, others in blamed.items():
        loop.or_groups[name] = replace(loop.or_groups[name], blamed=others)
    return loop


def leave_a(loop: Loop) -> None:
    event = BranchSwitched(or_group="a", choice="a2", reason="too slow", at="noon")
    leave(Board(loop), event, failed="a1", rests_on=set())


def test_only_what_was_given_up_together_with_it_is_freed_in_all_later_groups() -> None:
    loop = groups(b={"b2": ("a",)}, c={"c2": ("b",)}, d={"d2": ("a", "b"), "d3": ("c",)})
    leave_a(loop)
    assert [loop.or_groups[name].blamed for name in "bcd"] == [{}, {"c2": ("b",)}, {"d3": ("c",)}]
    assert [entry.or_group for entry in loop.trail] == ["a"]


@pytest.mark.parametrize(
    ("others", "is_kept"),
    [(("a",), True), (("a", "b"), True), (("d",), False), (("a", "d"), False), (("z",), False), (("c",), False)],
)
def test_only_earlier_groups_share_in_a_blame(others: tuple[str, ...], is_kept: bool) -> None:
    loop = groups(c={"c2": others, "c3": ("a",)})
    before = loop.or_groups["c"]
    free_what_is_out_of_order(Board(loop))
    assert list(loop.or_groups["c"].blamed) == (["c2", "c3"] if is_kept else ["c3"])
    assert (loop.or_groups["c"] is before) == is_kept


@pytest.mark.parametrize(
    ("rests_on", "expected"), [({"c"}, {"failed": ("c1",)}), ({"a", "c", "d"}, {"blamed": {"c1": ("a",)}})]
)
def test_a_choice_has_failed_by_itself_only_if_it_rests_on_no_earlier_group(
    rests_on: set[str], expected: dict[str, Any]
) -> None:
    loop = groups()
    end_turn(Board(loop), "c1", rests_on)
    assert loop.or_groups["c"] == OrGroup(choices=("c1", "c2", "c3"), selected="c1", **expected)


def test_a_race_is_not_won_any_more_by_the_winner_that_was_given_up_and_by_no_other() -> None:
    race = OrGroup(choices=("X", "Y"), selected="X", speculative=True, won="X")
    assert given_up(race, "X", (), for_good=True).won is None
    assert given_up(race, "Y", (), for_good=True).won == "X"
    failed = given_up(race, "Y", (), for_good=True)
    assert given_up(failed, "Y", (), for_good=True) == failed


def test_hints_against_a_choice_are_forgotten_when_it_is_left_and_no_others() -> None:
    group = OrGroup(choices=("X", "Y"), selected="X", hints={"X": ("A1",), "Y": ("A2",)})
    for for_good in (True, False):
        assert given_up(group, "X", (), for_good=for_good).hints == {"Y": ("A2",)}


@pytest.mark.parametrize("is_blamed", [True, False])
def test_a_choice_left_for_what_was_built_on_it_is_blamed_once_more(is_blamed: bool) -> None:
    loop = choices()
    loop.or_groups["store"] = replace(loop.or_groups["store"], blames={"X": 1, "Y": 1})
    event = BranchSwitched(or_group="store", choice="Y", reason="too slow", at="noon")
    leave(Board(loop), event, failed="X", rests_on=set(), is_blamed=is_blamed)
    assert loop.or_groups["store"].blames == {"X": 1 + is_blamed, "Y": 1}


def test_choices_that_are_only_named_are_in_nobodys_way_and_half_a_result_goes() -> None:
    inner = OrGroup(choices=("C", "later"), selected="C")
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), atom("C", or_group="h", status="resolved"), atom("Q", "X"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="X"), "h": inner},
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
        bindings={"C": Binding(summary="did C"), "Q": Binding(summary="half")},
    )  # fmt: skip
    (switched,) = advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    assert isinstance(switched, Backtracked)
    assert (switched.reset, switched.undone, loop.bindings) == (("C", "Q"), ("C",), {})
