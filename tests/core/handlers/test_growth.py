"""Graphs grow by atoms and by parts of atoms; growth that would not be valid is refused whole."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import Added
from aotloop.core.events import AtomAdded, AtomDecomposed, Child, Event
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.decomposition import free_ids
from aotloop.core.machine import advance
from aotloop.core.model import AtomCheck, Binding, Constraints, Decomposition, Generation, Loop, OrGroup
from aotloop.errors import IllegalEvent
from tests.core.generated import errors_of, valid_loops
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def split(parent: str, *parts: str | None, reason: str = "too large") -> AtomDecomposed:
    """Parts are ids; None asks for the next free one."""
    children = tuple(Child(description=f"part {number}", atom=one) for number, one in enumerate(parts, 1))
    return AtomDecomposed(parent=parent, children=children, reason=reason)


def added(loop: Loop, **more: Any) -> str:
    (effect,) = advance(loop, AtomAdded(description="more", **more))
    assert isinstance(effect, Added)
    return effect.atoms[0]


# --- ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "fresh"),
    [
        (["A1"], ["A2", "A3"]),
        (["A1", "A7"], ["A8", "A9"]),
        (["A4_alt", "login", "B9", "A", "AA3"], ["A1", "A2"]),
        (["A09"], ["A10", "A11"]),
    ],
)
def test_a_new_id_is_the_next_number(ids: list[str], fresh: list[str]) -> None:
    graph = Graph(a_loop(*(atom(one) for one in ids)))
    assert list(islice(free_ids(graph), 2)) == fresh


def test_choices_that_are_not_atoms_yet_keep_their_ids() -> None:
    group = OrGroup(choices=("A1", "A5"), selected="A1")
    loop = a_loop(atom("A1", or_group="g"), or_groups={"g": group})
    assert added(loop) == "A6"


def test_new_atoms_get_one_id_after_the_other() -> None:
    loop = a_loop(atom("A1"))
    assert [added(loop), added(loop)] == ["A2", "A3"]


@given(valid_loops())
def test_a_new_id_is_never_in_use(loop: Loop) -> None:
    used = {one.id for one in loop.atoms} | {one for group in loop.or_groups.values() for one in group.choices}
    assert added(loop) not in used


# --- adding ------------------------------------------------------------------------------------------------------


def test_an_added_atom_is_pending_and_last_in_the_file() -> None:
    loop = a_loop(atom("A1"))
    check = AtomCheck(type="file", value="out")
    assert added(loop, depends_on=("A1",), run="make", check=check, estimate=2.5) == "A2"
    assert loop == a_loop(atom("A1"), atom("A2", "A1", description="more", run="make", check=check, estimate=2.5))


def test_an_added_atom_may_be_named() -> None:
    loop = a_loop(atom("A1"))
    assert added(loop, atom="login") == "login"


def test_an_atom_added_to_a_new_group_is_selected() -> None:
    loop = a_loop(atom("A1"))
    added(loop, or_group="g")
    assert loop.or_groups == {"g": OrGroup(choices=("A2",), selected="A2")}
    assert errors_of(loop) == []


def test_an_atom_added_to_a_group_is_its_last_choice_and_not_selected() -> None:
    loop = a_loop(atom("A1", or_group="g"))
    loop.or_groups["g"] = replace(loop.or_groups["g"], speculative=True)
    added(loop, or_group="g")
    assert loop.or_groups == {"g": OrGroup(choices=("A1", "A2"), selected="A1", speculative=True)}
    assert errors_of(loop) == []


def test_a_choice_that_was_named_before_becomes_an_atom_in_its_place() -> None:
    group = OrGroup(choices=("A1", "A1_alt", "A2"), selected="A1")
    loop = a_loop(atom("A1", or_group="g"), atom("A2", or_group="g"), or_groups={"g": group})
    added(loop, atom="A1_alt", or_group="g")
    assert loop.or_groups == {"g": group}
    assert errors_of(loop) == []


def test_a_choice_added_to_an_exhausted_group_is_tried() -> None:
    group = OrGroup(choices=("A1",), selected="A1", failed=("A1",))
    loop = a_loop(atom("A1", or_group="g"), or_groups={"g": group})
    added(loop, or_group="g")
    assert errors_of(loop) == []
    assert Graph(loop).ready() == ["A2"]


def test_an_id_that_is_taken_is_refused_and_the_next_free_one_named() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    with refused(loop, "there is an atom A1 already; the next free id is A3"):
        added(loop, atom="A1")


def test_a_blank_id_is_refused() -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, "an atom's id may not be blank"):
        added(loop, atom="  ")


@pytest.mark.parametrize("needed", ["A9", "A2"])
def test_a_dependency_on_what_does_not_exist_is_refused(needed: str) -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, f"A2 cannot depend on {needed}: there is no such atom"):
        added(loop, depends_on=("A1", needed))


def test_an_atom_that_would_close_a_cycle_through_its_group_is_refused() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Q", "X"))
    with refused(loop, "that would close a cycle: X → Q → X"):
        added(loop, or_group="g", depends_on=("Q",))


@pytest.mark.parametrize(
    "terms",
    [{"run": " "}, {"estimate": -1.0}, {"estimate": float("nan")}, {"check": AtomCheck()},
     {"check": AtomCheck(type="command")}, {"check": AtomCheck(group=())}],
    ids=["blank command", "negative", "no number", "no check", "no value", "empty group"],
)  # fmt: skip
def test_an_atom_whose_terms_make_no_sense_is_refused(terms: dict[str, Any]) -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, "AtomAdded is not possible: "):
        added(loop, **terms)


GROWTH_ONTO_A_CHOICE = [
    AtomAdded(description="more", atom="Y"),
    AtomAdded(description="more", atom="Y", or_group="h"),
    split("A1", "Y"),
]


@pytest.mark.parametrize("event", GROWTH_ONTO_A_CHOICE, ids=["alone", "in another group", "as a part"])
def test_the_id_of_a_choice_cannot_be_taken_without_its_group(event: Event) -> None:
    group = OrGroup(choices=("X", "Y"), selected="X")
    loop = a_loop(atom("A1"), atom("X", or_group="g"), or_groups={"g": group})
    with suppress(IllegalEvent):
        advance(loop, event)
    assert errors_of(loop) == []


# --- decomposition -----------------------------------------------------------------------------------------------


def test_parts_copy_the_dependencies_and_the_parent_stays_pending() -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1"), atom("A3", "A2"))
    assert advance(loop, split("A2", None, None)) == [Added(atoms=("A4", "A5"))]
    assert loop.control.generation == Generation(grown=("A2",))
    loop.control = a_loop(atom("A1")).control
    assert loop == a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1"),
        atom("A3", "A2"),
        atom("A4", "A1", description="part 1"),
        atom("A5", "A1", description="part 2"),
        decompositions=[Decomposition(parent="A2", children=("A4", "A5"), reason="too large")],
    )


def test_after_a_decomposition_the_parts_are_ready_and_the_parent_is_not() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"))
    advance(loop, split("A1", None, None))
    assert Graph(loop).ready() == ["A3", "A4"]


def test_a_parent_that_was_begun_is_pending_again_without_a_result() -> None:
    loop = a_loop(atom("A1", status="in_progress"), bindings={"A1": Binding(summary="half of it")})
    advance(loop, split("A1", None))
    assert loop.atoms[0].status == "pending"
    assert loop.bindings == {}


def test_parts_may_be_named_and_the_others_number_on_from_them() -> None:
    loop = a_loop(atom("A1"))
    assert advance(loop, split("A1", None, "A7", "hash", None)) == [Added(atoms=("A8", "A7", "hash", "A9"))]


def test_a_selected_choice_can_be_decomposed_and_its_parts_are_no_choices() -> None:
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"))
    advance(loop, split("X", None, None))
    assert [one.or_group for one in loop.atoms] == ["g", "g", None, None]
    assert loop.or_groups["g"].choices == ("X", "Y")
    assert errors_of(loop) == []


def test_parts_can_be_decomposed_as_deep_as_allowed() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_depth=2))
    advance(loop, split("A1", None))
    advance(loop, split("A2", None))
    with refused(loop, "A3 is 2 levels deep; max_depth is 2"):
        advance(loop, split("A3", None))


def test_with_a_depth_of_nothing_nothing_is_decomposed() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_depth=0))
    with refused(loop, "A1 is 0 levels deep; max_depth is 0"):
        advance(loop, split("A1", None))


def test_another_choice_in_the_place_of_a_part_is_no_way_around_the_depth() -> None:
    loop = a_loop(
        atom("P"),
        atom("X", or_group="g"),
        atom("Y", or_group="g"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="Y", failed=("X",))},
        decompositions=[Decomposition(parent="P", children=("X",), reason="parts")],
        constraints=Constraints(max_depth=1),
    )
    with refused(loop, "Y is 1 levels deep"):
        advance(loop, split("Y", None))


def test_as_many_parts_as_allowed_and_no_more() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_children=2))
    with refused(loop, "3 children are more than max_children, 2"):
        advance(loop, split("A1", None, None, None))
    advance(loop, split("A1", None, None))


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (split("A9", None), "there is no atom A9"),
        (split("A1"), "there are no children"),
        (split("A1", "A2"), "there is an atom A2 already; the next free id is A5"),
        (split("A1", " "), "an atom's id may not be blank"),
        (split("A1", "B", "B"), "two children have the same id: B, B"),
        (split("A2", None), "A2 is resolved"),
        (split("A3", None), "A3 was decomposed already, into A4"),
        (split("make", None), "make is done by a command; a command has no parts"),
        (split("X", None), "X races with other choices of g; racers are not decomposed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_decomposition_that_would_not_be_valid_is_refused_whole(event: Event, why: str) -> None:
    loop = a_loop(
        atom("A1"),
        atom("A2", status="resolved"),
        atom("A3"),
        atom("A4"),
        atom("make", run="make"),
        atom("X", or_group="g"),
        decompositions=[Decomposition(parent="A3", children=("A4",), reason="parts")],
        or_groups={"g": OrGroup(choices=("X",), selected="X", speculative=True)},
    )
    with refused(loop, why):
        advance(loop, event)


@given(valid_loops(), st.data())
def test_decomposing_changes_nothing_but_the_parent(loop: Loop, data: st.DataObject) -> None:
    parent = data.draw(st.sampled_from(loop.atoms))
    before = loop.snapshot()
    try:
        (effect,) = advance(loop, split(parent.id, None, None))
    except IllegalEvent:
        return
    assert isinstance(effect, Added)
    assert [one for one in loop.atoms if one.id in effect.atoms] == loop.atoms[-2:]
    assert all(one.depends_on == parent.depends_on and one.status == "pending" for one in loop.atoms[-2:])
    assert [one for one in loop.atoms[:-2] if one.id != parent.id] == [
        one for one in before.atoms if one.id != parent.id
    ]
    assert (loop.or_groups, loop.trail) == (before.or_groups, before.trail)
    assert loop.control.tried == before.control.tried + (parent.status == "in_progress")
    assert replace(loop.control, generation=Generation(), tried=0) == replace(
        before.control, generation=Generation(), tried=0
    )
    assert loop.decompositions[:-1] == before.decompositions
    assert set(before.bindings) - set(loop.bindings) <= {parent.id}


# --- growth that puts groups into another order ------------------------------------------------------------------


def test_a_choice_that_puts_its_group_after_another_frees_what_was_blamed_on_it() -> None:
    blamed = OrGroup(choices=("B1", "B2"), selected="B2", blamed={"B1": ("a",)})
    loop = a_loop(
        atom("A1", or_group="a"),
        *(atom(one, or_group="b") for one in ("B1", "B2")),
        or_groups={"a": OrGroup(choices=("A1",), selected="A1"), "b": blamed},
    )
    added(loop)
    assert loop.or_groups["b"] == blamed
    added(loop, or_group="a")
    assert loop.or_groups["b"] == blamed
    added(loop, or_group="a", depends_on=("B2",))
    assert loop.or_groups["b"] == replace(blamed, blamed={})


def test_parts_that_put_a_group_after_another_free_what_was_blamed_on_it() -> None:
    blamed = OrGroup(choices=("D1", "D2"), selected="D2", blamed={"D1": ("c",)})
    loop = a_loop(
        atom("P"),
        *(atom(one, "P", or_group="c") for one in ("C1", "C2")),
        *(atom(one, or_group="d") for one in ("D1", "D2")),
        or_groups={"c": OrGroup(choices=("C1", "C2"), selected="C1"), "d": blamed},
    )
    part = Child(description="a part", depends_on=("D2",))
    advance(loop, AtomDecomposed(parent="P", children=(part,), reason="too large"))
    assert loop.or_groups["d"] == replace(blamed, blamed={})


@pytest.mark.parametrize(("given_up", "selected"), [({"blamed": {"A1": ()}}, "A2"), ({}, "A1")])
def test_a_new_choice_is_tried_where_the_selected_one_was_given_up(given_up: dict[str, Any], selected: str) -> None:
    group = OrGroup(choices=("A1",), selected="A1", **given_up)
    loop = a_loop(atom("A1", or_group="g"), or_groups={"g": group})
    added(loop, or_group="g")
    assert loop.or_groups["g"].selected == selected


def test_a_choice_that_had_failed_before_it_was_an_atom_is_not_tried() -> None:
    group = OrGroup(choices=("A1", "A1_alt"), selected="A1", failed=("A1", "A1_alt"))
    loop = a_loop(atom("A1", or_group="g"), or_groups={"g": group})
    added(loop, atom="A1_alt", or_group="g")
    assert loop.or_groups["g"] == group


def test_what_makes_no_sense_of_a_new_atom_is_told_in_words() -> None:
    with refused(a_loop(atom("A1")), "AtomAdded is not possible: A2: run: is blank; give a command or remove the key"):
        added(a_loop(atom("A1")), run=" ")


# --- what new atoms cover ----------------------------------------------------------------------------------------


def test_an_atom_that_covers_what_the_base_case_does_not_have_is_refused() -> None:
    loop = a_loop(atom("A1"))
    with pytest.raises(IllegalEvent, match="the base case has no item 'command: tru'; did you mean command: true"):
        advance(loop, AtomAdded(description="x", covers=("command: tru",)))
    assert len(loop.atoms) == 1
    advance(loop, AtomAdded(description="x", covers=("command: true",)))
    assert loop.atoms[1].covers == ("command: true",)


def test_a_part_that_covers_what_the_base_case_does_not_have_is_taken_without_it() -> None:
    loop = a_loop(atom("A1"))
    parts = (Child(description="x", covers=("magic", "command: true")), Child(description="y"))
    advance(loop, AtomDecomposed(parent="A1", children=parts, reason="r"))
    assert [one.covers for one in loop.atoms] == [(), ("command: true",), ()]
