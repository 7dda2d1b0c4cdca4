"""The atoms that a proposal stands for: named parts, what they depend on, which of them are alternatives."""

from __future__ import annotations

from aotloop.core.events import AtomDecomposed, Child
from aotloop.core.graph.work_graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Loop, OrGroup
from tests.core.generated import errors_of
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def decompose(loop: Loop, *children: Child, parent: str = "A1") -> list[Atom]:
    before = len(loop.atoms)
    advance(loop, AtomDecomposed(parent=parent, children=children, reason="too much at once"))
    assert errors_of(loop) == []
    return loop.atoms[before:]


def part(description: str, *depends_on: str, **terms: str) -> Child:
    return Child(description=description, depends_on=depends_on, name=description, **terms)  # type: ignore[arg-type]


def test_parts_depend_on_one_another_by_name() -> None:
    loop = a_loop(atom("A1"))
    parts = decompose(loop, part("read"), part("write", "read"), part("test", "read", "write"))
    assert [one.depends_on for one in parts] == [(), ("A2",), ("A2", "A3")]
    assert Graph(loop).ready() == ["A2"]


def test_a_part_may_depend_on_one_that_is_named_later() -> None:
    loop = a_loop(atom("A1"))
    assert [one.depends_on for one in decompose(loop, part("write", "read"), part("read"))] == [("A3",), ()]


def test_a_part_may_depend_on_an_atom_that_is_there_already() -> None:
    loop = a_loop(atom("A1"), atom("A2"))
    (one,) = decompose(loop, part("read", "A2"))
    assert one.depends_on == ("A2",)


def test_parts_copy_what_the_parent_depends_on_each_once_and_first() -> None:
    loop = a_loop(atom("A0", status="resolved"), atom("A2"), atom("A1", "A0", "A2"))
    parts = decompose(loop, part("read", "A2"), part("write", "read"))
    assert [one.depends_on for one in parts] == [("A0", "A2"), ("A0", "A2", "A3")]


def test_a_name_of_a_part_comes_before_an_atom_of_that_id() -> None:
    loop = a_loop(atom("A1"), atom("read"))
    parts = decompose(loop, part("read"), part("write", "read"))
    assert parts[1].depends_on == (parts[0].id,)


def test_parts_keep_their_estimates_and_have_neither_command_nor_check() -> None:
    (one,) = decompose(a_loop(atom("A1", run=None)), Child(description="read", estimate=3.0))
    assert (one.estimate, one.run, one.check, one.status) == (3.0, None, None, "pending")


def test_parts_with_the_same_label_are_alternatives_and_the_first_is_selected() -> None:
    loop = a_loop(atom("A1"))
    parts = decompose(loop, part("sql", or_group="store"), part("files", or_group="store"), part("docs"))
    assert loop.or_groups == {"A1_store": OrGroup(choices=("A2", "A3"), selected="A2")}
    assert [one.or_group for one in parts] == ["A1_store", "A1_store", None]
    assert Graph(loop).ready() == ["A2", "A4"]


def test_a_label_that_only_one_part_has_means_nothing() -> None:
    loop = a_loop(atom("A1"))
    (one,) = decompose(loop, part("sql", or_group="store"))
    assert (loop.or_groups, one.or_group) == ({}, None)


def test_a_group_gets_a_name_that_is_free() -> None:
    loop = a_loop(atom("A1"), atom("X", or_group="A1_store"), atom("Y", or_group="A1_store"))
    decompose(loop, part("sql", or_group="store"), part("files", or_group="store"))
    assert list(loop.or_groups) == ["A1_store", "A1_store_"]
    assert loop.or_groups["A1_store"].choices == ("X", "Y")


def test_two_labels_are_two_groups() -> None:
    loop = a_loop(atom("A1"))
    labels = ("store", "store", "view", "view")
    decompose(loop, *(part(f"{label}{number}", or_group=label) for number, label in enumerate(labels)))
    assert {name: group.choices for name, group in loop.or_groups.items()} == {
        "A1_store": ("A2", "A3"),
        "A1_view": ("A4", "A5"),
    }


def test_a_dependency_on_one_alternative_is_one_on_their_group() -> None:
    loop = a_loop(atom("A1"))
    decompose(loop, part("sql", or_group="s"), part("files", or_group="s"), part("use", "files"))
    assert Graph(loop).waits_for("A4") == ["A3"]
    loop.atoms[1] = Atom(id="A2", description="sql", status="resolved", depends_on=(), or_group="A1_s")
    assert Graph(loop).waits_for("A4") == []


def refuse(loop: Loop, why: str, *children: Child, parent: str = "A1") -> None:
    with refused(loop, why):
        advance(loop, AtomDecomposed(parent=parent, children=children, reason="too much at once"))


def test_a_dependency_on_what_is_neither_a_part_nor_an_atom_is_refused() -> None:
    refuse(a_loop(atom("A1")), "'read' depends on nobody, which is neither a part nor an atom", part("read", "nobody"))


def test_parts_that_wait_for_each_other_are_refused() -> None:
    refuse(a_loop(atom("A1")), "cycle", part("read", "write"), part("write", "read"))


def test_a_part_that_waits_for_itself_is_refused() -> None:
    refuse(a_loop(atom("A1")), "cycle", part("read", "read"))


def test_a_part_that_waits_for_its_parent_is_refused() -> None:
    refuse(a_loop(atom("A1")), "cycle", part("read", "A1"))


def test_a_part_that_waits_for_what_waits_for_its_parent_is_refused() -> None:
    refuse(a_loop(atom("A1"), atom("A2", "A1")), "cycle", part("read", "A2"))


def test_an_alternative_that_waits_for_another_one_is_refused() -> None:
    refuse(a_loop(atom("A1")), "cycle", part("sql", or_group="s"), part("files", "sql", or_group="s"))


def test_names_of_groups_are_free_also_among_those_that_come_with_them() -> None:
    group = OrGroup(choices=("X",), selected="X")
    loop = a_loop(atom("A1"), atom("X", or_group="A1_x"), or_groups={"A1_x": group})
    children = tuple(Child(description=label, or_group=label) for label in ("x", "x", "x_", "x_"))
    advance(loop, AtomDecomposed(parent="A1", children=children, reason="too large"))
    assert list(loop.or_groups) == ["A1_x", "A1_x_", "A1_x__"]
    assert errors_of(loop) == []
