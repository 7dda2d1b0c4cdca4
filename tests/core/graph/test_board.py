"""A board answers as a fresh graph of its loop would, after any changes, and a change touches only what follows."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import group_order
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Constraints, Decomposition, Loop, OrGroup
from aotloop.core.policy.turns import patience
from aotloop.errors import IllegalEvent
from tests.core.generated import ATOM_STATUSES, any_events, any_graphs, some_of, thoroughly, valid_loops
from tests.loops import a_loop, atom, loops
from tests.steps import lines_run


def split(parent: str, *children: str) -> Decomposition:
    return Decomposition(parent=parent, children=children, reason="parts")


def change(board: Board, atom_id: str, **terms: Any) -> None:
    board.put(replace(board.atoms[atom_id], **terms))


def change_group(board: Board, name: str, **terms: Any) -> None:
    board.put_group(name, replace(board.loop.or_groups[name], **terms))


def asked(loop: Loop) -> Board:
    """A board that has something to keep up with."""
    board = Board(loop)
    board.unresolved_count()
    return board


def assert_up_to_date(board: Board) -> None:
    graph = Graph(board.loop)
    assert board.required == graph.required
    assert board.remaining_path == graph.remaining_path
    assert {one: set(users) for one, users in board.consumers.items()} == {
        one: set(users) for one, users in graph.consumers.items()
    }
    assert all(len(users) == len(graph.consumers[one]) for one, users in board.consumers.items())
    assert board.ready() == graph.ready()
    assert list(board.best_ready()) == graph.ready()
    assert board.unresolved() == graph.unresolved()
    assert board.unresolved_count() == sum(board.atoms[one].repairs is None for one in graph.unresolved())
    assert (board.atoms, board.position, board.group_of) == (graph.atoms, graph.position, graph.group_of)
    assert (board.children_of, board.parents_of) == (graph.children_of, graph.parents_of)
    assert board.consumers_first == graph.consumers_first
    assert [board.why_not_ready(one) for one in board.atoms] == [graph.why_not_ready(one) for one in board.atoms]


def a_race(**group: Any) -> Loop:
    """D, then X or Y (which needs E), then Q."""
    choices = [atom("X", "D", or_group="g"), atom("Y", "D", "E", or_group="g")]
    chosen = OrGroup(choices=("X", "Y"), selected="X", **group)
    return a_loop(atom("D"), atom("E"), *choices, atom("Q", "X"), or_groups={"g": chosen})


# --- what follows from a change of an atom -----------------------------------------------------------------------


def test_an_atom_becomes_ready_when_the_last_it_waits_for_is_resolved() -> None:
    board = asked(a_loop(atom("A"), atom("B"), atom("C", "A", "B")))
    change(board, "A", status="resolved")
    assert board.ready() == ["B"]
    change(board, "B", status="resolved")
    assert board.ready() == ["C"]


def test_an_atom_ceases_to_be_ready_when_what_it_needs_is_open_again() -> None:
    board = asked(a_loop(atom("A", status="resolved"), atom("B", "A")))
    change(board, "A", status="pending")
    assert board.ready() == ["A"]


def test_an_atom_that_is_started_or_a_repair_for_which_patience_is_over_is_not_ready() -> None:
    board = asked(a_loop(atom("A"), atom("B", repairs="tests")))
    change(board, "A", status="in_progress")
    change(board, "B", attempts=patience(board.loop))
    assert board.ready() == []
    change(board, "A", status="pending", attempts=99)
    assert board.ready() == ["A"]


def test_what_failed_comes_after_what_was_never_tried_with_all_choices_of_its_unit() -> None:
    board = asked(a_loop(atom("A"), atom("X", or_group="g"), atom("Y", or_group="g"), atom("C")))
    assert board.ready() == ["A", "X", "C"]
    change(board, "A", failures=1)
    assert board.ready() == ["X", "C", "A"]
    change(board, "Y", failures=2)
    assert board.ready() == ["C", "A", "X"]
    change(board, "Y", failures=0)
    assert board.ready() == ["X", "C", "A"]


def test_a_new_estimate_changes_every_path_through_the_atom_and_the_order() -> None:
    board = asked(a_loop(atom("A"), atom("B"), atom("C", "A"), atom("D", "B")))
    assert board.ready() == ["A", "B"]
    change(board, "D", estimate=9.0)
    assert (board.remaining_path["B"], board.ready()) == (10.0, ["B", "A"])
    change(board, "D", estimate=0.5)
    assert (board.remaining_path["B"], board.ready()) == (1.5, ["A", "B"])


def test_the_unresolved_are_counted_and_repairs_are_not() -> None:
    board = Board(a_loop(atom("A"), atom("B"), atom("R", repairs="Tests pass")))
    assert board.unresolved_count() == 2
    change(board, "A", status="resolved")
    assert board.unresolved_count() == 1
    change(board, "B", repairs="Tests pass")
    assert board.unresolved_count() == 0
    assert board.unresolved() == ["B", "R"]


def test_an_atom_put_with_other_dependencies_is_understood_too() -> None:
    board = asked(a_loop(atom("A"), atom("B"), atom("C", "A")))
    change(board, "C", depends_on=("B",))
    assert_up_to_date(board)


# --- what follows from a change of a group -----------------------------------------------------------------------


def test_another_selection_moves_what_is_required() -> None:
    board = asked(a_race())
    assert board.required == {"D", "X", "Q"}
    change_group(board, "g", selected="Y", failed=("X",))
    assert board.required == {"D", "E", "Y", "Q"}
    assert board.ready() == ["D", "E"]
    assert board.remaining_path["E"] == 3.0


def test_a_group_is_settled_by_its_selected_choice_and_all_who_need_it_go_on() -> None:
    board = asked(a_race(speculative=True))
    for one in ("D", "E"):
        change(board, one, status="resolved")
    assert board.ready() == ["X", "Y"]
    change(board, "Y", status="resolved")
    assert board.ready() == ["X"]
    change_group(board, "g", selected="Y")
    assert board.ready() == ["Q"]


def test_all_racers_become_ready_when_a_choice_that_needs_their_group_is_selected() -> None:
    racers = [atom("X", or_group="g"), atom("Y", or_group="g")]
    loop = a_loop(*racers, atom("M", or_group="h"), atom("N", "X", or_group="h", estimate=0.0))
    loop.or_groups["g"] = replace(loop.or_groups["g"], speculative=True)
    board = asked(loop)
    assert board.ready() == ["M"]
    change_group(board, "h", selected="N")
    assert board.ready() == ["X", "Y"]


def test_failed_and_blamed_choices_are_not_ready() -> None:
    board = asked(a_race(speculative=True))
    for one in ("D", "E"):
        change(board, one, status="resolved")
    change_group(board, "g", failed=("X",))
    assert board.ready() == ["Y"]
    change_group(board, "g", failed=(), blamed={"Y": ("h",)})
    assert board.ready() == ["X"]


def test_a_race_that_is_called_off_leaves_the_selected_choice() -> None:
    board = asked(a_race(speculative=True))
    for one in ("D", "E"):
        change(board, one, status="resolved")
    change_group(board, "g", speculative=False)
    assert board.ready() == ["X"]


def test_a_choice_that_is_no_atom_yet_can_be_selected_and_become_one() -> None:
    loop = a_race()
    loop.or_groups["g"] = OrGroup(choices=("X", "Y", "Z"), selected="X")
    board = asked(loop)
    change_group(board, "g", selected="Z")
    assert board.required == {"Q"}
    board.grow([atom("Z", or_group="g")])
    assert board.required == {"Z", "Q"}
    assert board.ready() == ["Z"]
    assert_up_to_date(board)


# --- what follows from growth ------------------------------------------------------------------------------------


def test_a_new_atom_lengthens_the_paths_of_what_it_needs() -> None:
    board = asked(a_loop(atom("A"), atom("B", "A")))
    board.grow([atom("C", "B", estimate=4.0)])
    assert board.remaining_path == {"A": 6.0, "B": 5.0, "C": 4.0}
    assert board.consumers["B"] == ["C"]
    assert board.unresolved_count() == 3


def test_a_decomposed_atom_waits_for_its_parts_and_costs_nothing_itself() -> None:
    board = asked(a_loop(atom("P", estimate=9.0), atom("Q", "P")))
    board.grow([atom("C"), atom("D")], decompositions=[split("P", "C", "D")])
    assert board.ready() == ["C", "D"]
    assert board.remaining_path == {"P": 1.0, "Q": 1.0, "C": 2.0, "D": 2.0}
    for one in ("C", "D"):
        change(board, one, status="resolved")
    assert board.waits_for("P") == []
    change(board, "P", status="resolved")
    assert board.ready() == ["Q"]


def test_a_part_that_was_there_before_has_the_path_of_its_parent_after_it() -> None:
    board = asked(a_loop(atom("P", estimate=0.0), atom("Q", "P", estimate=5.0), atom("C")))
    board.grow([], decompositions=[split("P", "C")])
    assert board.remaining_path["C"] == 6.0


def test_an_atom_can_be_a_part_of_several_and_be_decomposed_twice() -> None:
    board = asked(a_loop(atom("P"), atom("O"), atom("C")))
    board.grow([], decompositions=[split("P", "C"), split("O", "C")])
    board.grow([atom("D")], decompositions=[split("P", "D", "C")])
    assert_up_to_date(board)
    assert board.children_of["P"] == ("C", "D", "C")


def test_whoever_needs_a_group_needs_its_new_choices() -> None:
    board = asked(a_race())
    wider = OrGroup(choices=("X", "Y", "Z"), selected="Z", failed=("X",))
    board.grow([atom("Z", or_group="g", estimate=7.0)], {"g": wider})
    assert board.consumers["Z"] == ["Q"]
    assert board.required == {"Z", "Q"}
    assert board.remaining_path["Z"] == 8.0
    assert_up_to_date(board)


def test_a_group_that_is_put_with_more_choices_is_wider() -> None:
    board = asked(a_race())
    board.put_group("g", OrGroup(choices=("X", "Y", "Z"), selected="X"))
    assert board.consumers["Z"] == ["Q"]
    board.grow([atom("Z", or_group="g")])
    assert_up_to_date(board)


def test_an_atom_that_was_only_named_can_come_later() -> None:
    board = asked(a_loop(atom("B", "A")))
    assert board.ready() == []
    board.grow([atom("A", status="resolved")])
    assert board.ready() == ["B"]
    assert_up_to_date(board)


def test_what_was_needed_for_itself_only_is_not_required_if_only_an_unselected_choice_needs_it() -> None:
    board = asked(a_race())
    board.grow([atom("F")])
    assert "F" in board.required
    board.grow([], decompositions=[split("Y", "F")])
    assert "F" not in board.required
    assert_up_to_date(board)


def test_atoms_that_become_choices_afterwards_are_understood_too() -> None:
    board = asked(a_loop(atom("A"), atom("B"), atom("C", "A")))
    board.grow([], {"g": OrGroup(choices=("A", "B"), selected="B")})
    assert_up_to_date(board)
    board.put_group("g", OrGroup(choices=("B",), selected="B"))
    assert_up_to_date(board)


def test_a_name_that_somebody_needs_can_become_a_choice() -> None:
    board = asked(a_loop(atom("X", or_group="g", status="resolved"), atom("R", "Z")))
    assert board.ready() == []
    board.put_group("g", OrGroup(choices=("X", "Z"), selected="X"))
    assert board.ready() == ["R"]
    assert_up_to_date(board)


def test_after_any_other_change_a_board_is_rebuilt() -> None:
    board = asked(a_loop(atom("A"), atom("B", "A")))
    del board.loop.atoms[1]
    board.loop.objective = replace(board.loop.objective, constraints=Constraints(max_attempts=5))
    board.rebuild()
    assert_up_to_date(board)
    assert (list(board.atoms), board.consumers) == (["A"], {})


# --- handing out what is ready -----------------------------------------------------------------------------------


def three() -> Board:
    return asked(a_loop(*(atom(f"A{number}", estimate=10.0 - number) for number in (1, 2, 3))))


def test_what_was_handed_out_and_not_changed_is_handed_out_again() -> None:
    board = three()
    first = board.best_ready()
    assert [next(first), next(first)] == ["A1", "A2"]
    assert list(board.best_ready()) == ["A1", "A2", "A3"]


def test_two_readers_do_not_take_anything_from_each_other() -> None:
    board = three()
    one, other = board.best_ready(), board.best_ready()
    assert [next(one), next(other), next(other), next(one), next(one)] == ["A1", "A1", "A2", "A2", "A3"]
    assert [list(other), list(one)] == [["A3"], []]


def test_what_is_no_longer_ready_is_not_handed_out() -> None:
    board = three()
    ready = board.best_ready()
    assert next(ready) == "A1"
    change(board, "A2", status="in_progress")
    assert list(ready) == ["A3"]


def test_what_becomes_ready_meanwhile_is_handed_out_and_nothing_twice() -> None:
    board = asked(a_loop(atom("A"), atom("B", "A"), atom("C")))
    ready = board.best_ready()
    assert next(ready) == "A"
    change(board, "A", status="resolved")
    change(board, "A", status="pending", estimate=99.0)
    change(board, "A", status="resolved")
    assert list(ready) == ["B", "C"]


def test_a_reader_goes_on_after_a_rebuild_and_after_the_loop_has_become_invalid() -> None:
    board = three()
    ready = board.best_ready()
    assert next(ready) == "A1"
    change(board, "A2", status="in_progress")
    board.rebuild()
    board.grow([atom("A4", "A4"), atom("A0")])
    board.rebuild()
    assert list(ready) == ["A3", "A0"]
    again = board.best_ready()
    assert next(again) == "A1"
    change(board, "A3", status="in_progress")
    assert list(again) == ["A0"]


def test_going_back_and_forth_leaves_nothing_behind() -> None:
    board = three()
    for _ in range(200):
        change(board, "A2", status="in_progress")
        change(board, "A2", status="pending")
    assert board._standing is not None
    assert len(board._standing.ranking._heap) < 50
    assert list(board.best_ready()) == ["A1", "A2", "A3"]


# --- against a fresh graph ---------------------------------------------------------------------------------------


class _Changes:
    """Draws a change that the invariants of the core allow, and makes it."""

    def __init__(self, draw: Callable[..., Any], board: Board) -> None:
        self.draw, self.board, self.number = draw, board, 0
        self.kinds: list[Callable[[], None]] = [self.put, self.put, self.grow]
        self.kinds += [self.put_group] if board.loop.or_groups else []

    def make(self) -> None:
        self.draw(st.sampled_from(self.kinds))()

    def put(self) -> None:
        old = self.draw(st.sampled_from(self.board.loop.atoms))
        terms = st.fixed_dictionaries(
            {"status": st.sampled_from(ATOM_STATUSES)},
            optional={
                "attempts": st.integers(0, 2),
                "estimate": st.sampled_from([None, 0.0, 0.25, 3.0, 8.0]),
                "repairs": st.sampled_from([None, "Tests pass"]),
            },
        )
        self.board.put(replace(old, **self.draw(terms)))

    def put_group(self) -> None:
        name = self.draw(st.sampled_from(list(self.board.loop.or_groups)))
        self.board.put_group(name, self.changed_group(self.board.loop.or_groups[name]))

    def changed_group(self, group: OrGroup) -> OrGroup:
        return replace(
            group,
            selected=self.draw(st.sampled_from(group.choices)),
            failed=self.draw(some_of(group.choices, 1)),
            blamed=dict.fromkeys(self.draw(some_of(group.choices, 1)), ()),
            speculative=self.draw(st.booleans()),
        )

    def grow(self) -> None:
        known = list(self.board.atoms)
        named = [*known, *(one for one in self.board.group_of if one not in known), "unknown", "N5"]
        promised = [one for one in named if one not in known and one != "unknown"]
        fresh = [self.fresh_atom(named, promised) for _ in range(self.draw(st.integers(0, 2)))]
        fresh = list({one.id: one for one in fresh}.values())
        groups = self.wider_groups([one.id for one in fresh])
        splits = []
        if self.draw(st.booleans()):
            parts = self.draw(some_of([*named, *(one.id for one in fresh)]))
            splits = [split(self.draw(st.sampled_from([*known, *(one.id for one in fresh)])), *parts)]
        grown = self.board.loop.snapshot()
        grown.atoms += fresh
        grown.or_groups |= groups
        grown.decompositions += splits
        if Graph(grown).find_cycle() is None:
            self.board.grow(fresh, groups, splits)

    def fresh_atom(self, named: list[str], promised: list[str]) -> Atom:
        self.number += 1
        atom_id = self.draw(st.sampled_from([f"N{self.number}"] * 3 + promised))
        status = self.draw(st.sampled_from(ATOM_STATUSES))
        return atom(
            atom_id, *self.draw(some_of(named)), status=status, estimate=self.draw(st.sampled_from([None, 6.0]))
        )

    def wider_groups(self, fresh: list[str]) -> dict[str, OrGroup]:
        free = [one for one in (*fresh, f"alt{self.number}") if one not in self.board.group_of]
        if not free or not self.draw(st.booleans()):
            return {}
        name = self.draw(st.sampled_from([*self.board.loop.or_groups, f"new{self.number}"]))
        old = self.board.loop.or_groups.get(name, OrGroup(choices=(), selected=""))
        return {name: self.changed_group(replace(old, choices=(*old.choices, *free)))}


@thoroughly
@given(valid_loops(), st.data())
def test_a_board_answers_as_a_fresh_graph_after_every_change(loop: Loop, data: st.DataObject) -> None:
    board = Board(loop)
    changes = _Changes(data.draw, board)
    for _ in range(data.draw(st.integers(1, 8))):
        changes.make()
        assert_up_to_date(board)


@given(valid_loops(), st.data())
def test_several_changes_between_two_questions_are_all_seen(loop: Loop, data: st.DataObject) -> None:
    board = Board(loop)
    changes = _Changes(data.draw, board)
    for _ in range(data.draw(st.integers(1, 3))):
        for _ in range(data.draw(st.integers(1, 4))):
            changes.make()
        assert_up_to_date(board)


@thoroughly
@given(valid_loops(), st.data())
def test_what_is_no_news_is_as_it_was_and_as_wanted_as_it_was(loop: Loop, data: st.DataObject) -> None:
    board = asked(loop)
    assert board.take_news() is None, "whoever has not asked before knows nothing"
    changes = _Changes(data.draw, board)
    for _ in range(data.draw(st.integers(1, 6))):
        known = {one: (board.atoms[one], board.why_not_wanted(one)) for one in board.atoms}
        for _ in range(data.draw(st.integers(1, 3))):
            changes.make()
        if (news := board.take_news()) is not None:
            same = [one for one in known if one not in news]
            assert [(board.atoms[one], board.why_not_wanted(one)) for one in same] == [known[one] for one in same]


def test_news_are_told_once_and_of_nobody_else() -> None:
    board = asked(a_loop(atom("A"), atom("B"), atom("C", "B")))
    board.take_news()
    change(board, "A", status="in_progress")
    assert board.take_news() == {"A"}
    assert board.take_news() == set()
    board.rebuild()
    assert board.take_news() is None


@given(st.one_of(any_graphs(), loops), st.data())
def test_loops_that_are_not_valid_are_answered_as_by_a_graph(loop: Loop, data: st.DataObject) -> None:
    board = Board(loop)
    assert_up_to_date(board)
    for _ in range(data.draw(st.integers(0, 3)) if loop.atoms else 0):
        change(board, data.draw(st.sampled_from(list(board.atoms))), status=data.draw(st.sampled_from(ATOM_STATUSES)))
        assert_up_to_date(board)
        board.grow([atom(f"N{len(loop.atoms)}", data.draw(st.sampled_from(list(board.atoms))))])
        assert_up_to_date(board)


def test_atoms_on_a_cycle_are_answered_as_by_a_graph() -> None:
    board = asked(a_loop(atom("B", "A", estimate=0.0), atom("A", "B", estimate=0.0)))
    board.grow([atom("N", "A", estimate=0.0)])
    assert_up_to_date(board)


def test_an_id_that_is_given_twice_is_answered_as_by_a_graph() -> None:
    board = asked(a_loop(atom("A"), atom("A"), atom("B", "A")))
    assert_up_to_date(board)
    change(board, "A", status="resolved")
    assert_up_to_date(board)
    board.grow([atom("B")])
    assert_up_to_date(board)


def test_a_group_that_has_selected_none_of_its_choices_is_answered_as_by_a_graph() -> None:
    board = asked(a_race())
    change_group(board, "g", selected="D")
    assert_up_to_date(board)
    change(board, "D", status="resolved")
    assert_up_to_date(board)
    change_group(board, "g", selected="X")
    assert_up_to_date(board)


def test_growth_into_a_cycle_comes_to_an_end() -> None:
    board = asked(a_loop(atom("A"), atom("B", "A"), atom("end", "A")))
    board.grow([atom("C", "B")], decompositions=[split("A", "C")])
    assert_up_to_date(board)


# --- cost --------------------------------------------------------------------------------------------------------


def a_layered_loop(atoms: int, width: int) -> Loop:
    random = Random(atoms)
    made: list[Atom] = []
    for number in range(atoms):
        layer = number // width * width
        needs = {f"A{random.randrange(layer - width, layer)}" for _ in range(3)} if layer else set()
        made.append(atom(f"A{number}", *sorted(needs)))
    return a_loop(*made)


def steps(board: Board, number: int) -> None:
    for _ in range(number):
        best = next(board.best_ready())
        change(board, best, status="in_progress")
        change(board, best, status="resolved")
        board.unresolved_count()


def test_a_step_costs_as_much_in_a_large_graph_as_in_a_small_one() -> None:
    small, large = (asked(a_layered_loop(atoms, 20)) for atoms in (200, 20_000))
    assert lines_run(lambda: steps(large, 50)) < 1.3 * lines_run(lambda: steps(small, 50))


def grow_and_switch(board: Board) -> None:
    board.grow([atom("N1", "A0"), atom("N2", "A0", or_group="g")], {"g": OrGroup(choices=("N2",), selected="N2")})
    board.grow([atom("N3", or_group="g")], {"g": OrGroup(choices=("N2", "N3"), selected="N2")})
    change_group(board, "g", selected="N3", failed=("N2",))
    board.grow([atom("N4", "N1")], decompositions=[split("N3", "N4")])
    change(board, "N4", estimate=0.5)


@pytest.mark.parametrize("consumers", [0, 1])
def test_growth_costs_as_much_in_a_large_graph_as_in_a_small_one(consumers: int) -> None:
    """Even if all of the graph waits for the same atom."""
    boards = []
    for atoms in (200, 20_000):
        others = [atom(f"A{number}", *["A0"] * consumers, estimate=9.0) for number in range(1, atoms)]
        boards.append(asked(a_loop(atom("A0"), *others)))
    small, large = (lines_run(lambda board=board: grow_and_switch(board)) for board in boards)  # type: ignore[misc]
    assert large < 1.3 * small
    for board in boards[:1]:
        assert_up_to_date(board)


def test_what_both_choices_need_is_not_touched_when_another_one_is_selected() -> None:
    def a_fork_after(length: int) -> Board:
        chain = [atom(f"A{number}", *([f"A{number - 1}"] if number else [])) for number in range(length)]
        choices = [atom(one, f"A{length - 1}", or_group="g") for one in ("X", "Y")]
        return asked(a_loop(*chain, *choices))

    small, large = (lines_run(lambda board=board: change_group(board, "g", selected="Y"))  # type: ignore[misc]
                    for board in (a_fork_after(10), a_fork_after(1000)))  # fmt: skip
    assert large <= small


@given(loop=valid_loops(), data=st.data())
@thoroughly
def test_a_board_for_once_takes_any_event_as_one_that_keeps_up_does(loop: Loop, data: st.DataObject) -> None:
    other = loop.snapshot()
    boards = asked(loop), Board(other, is_for_once=True)
    for _ in range(4):
        event = data.draw(any_events(loop))
        outcomes = []
        for board in boards:
            try:
                outcomes.append(repr(advance(board.loop, event, board)))
            except IllegalEvent as refusal:
                outcomes.append(refusal.message)
        assert outcomes[0] == outcomes[1]
        assert loop == other
        assert_up_to_date(boards[1])


# --- what is kept, and what is not computed ----------------------------------------------------------------------


def a_fan(number: int = 40) -> list[Atom]:
    """A chain, all of which the last one needs as well: news of it would go through the chain again and again."""
    chain = [atom(f"A{one}", *([f"A{one - 1}"] if one else [])) for one in range(number)]
    return [*chain, atom("Z", *(one.id for one in chain))]


def test_news_that_would_go_back_and_forth_are_worked_out_anew() -> None:
    board = asked(a_loop(*a_fan()))
    change(board, "Z", estimate=90.0)
    assert_up_to_date(board)


def test_a_selection_whose_news_would_go_back_and_forth_is_worked_out_anew() -> None:
    *chain, last = a_fan()
    loop = a_loop(*chain, atom("X", or_group="g"), replace(last, or_group="g", estimate=90.0))
    board = asked(loop)
    change_group(board, "g", selected="Z")
    assert_up_to_date(board)


def test_growth_whose_news_would_go_back_and_forth_is_worked_out_anew() -> None:
    *chain, last = a_fan()
    board = asked(a_loop(*chain))
    board.grow([replace(last, estimate=90.0)])
    assert_up_to_date(board)


def test_what_was_handed_out_is_kept_in_place_by_every_change() -> None:
    board = asked(a_race())
    required, consumers, paths = board.required, board.consumers, board.remaining_path
    change(board, "D", status="resolved", estimate=3.0)
    change_group(board, "g", selected="Y")
    board.grow([atom("N", "Q"), atom("W", or_group="g")], {"g": replace(board.or_groups["g"], choices=("X", "Y", "W"))})
    board.grow([atom("V", or_group="h")], {"h": OrGroup(choices=("V",), selected="V")}, [split("N", "V")])
    assert board.required is required
    assert board.consumers is consumers
    assert board.remaining_path is paths
    assert_up_to_date(board)


def test_who_waits_for_role_is_kept_also_if_nothing_else_was_asked() -> None:
    board = Board(a_loop(atom("A"), atom("B", "A")))
    consumers = board.consumers
    board.grow([atom("C", "B")])
    assert board.consumers is consumers
    assert consumers == {"A": ["B"], "B": ["C"]}


def test_nothing_is_computed_before_somebody_asks() -> None:
    board = Board(a_race())
    change(board, "D", status="resolved")
    change_group(board, "g", selected="Y")
    board.grow([atom("V", or_group="h")], {"h": OrGroup(choices=("V",), selected="V")})
    assert not {"consumers", "required", "remaining_path", "consumers_first"} & set(vars(board))


def test_a_board_for_once_keeps_no_news() -> None:
    board = Board(a_race(), is_for_once=True)
    board.ready()
    board.remaining_path  # noqa: B018 - somebody asks
    change(board, "Q", estimate=9.0)
    assert board.take_news() is None
    assert_up_to_date(board)
    change_group(board, "g", selected="Y")
    assert_up_to_date(board)
    board.rebuild()
    assert board.take_news() is None


def test_the_order_of_groups_is_worked_out_anew_when_groups_come_or_go() -> None:
    for ask in (False, True):
        board = Board(a_loop(atom("B", or_group="b"), atom("A", or_group="a")))
        if ask:
            board.ready()
        assert group_order(board) == {"b": 0, "a": 1}
        grown = OrGroup(choices=("B", "C"), selected="B")
        board.grow([atom("C", "A", or_group="b")], {"b": grown})
        assert group_order(board) == {"a": 0, "b": 1}
        take_out(board, {"A"})
        assert group_order(board) == {"b": 0}


@pytest.mark.parametrize("ask", [False, True])
@pytest.mark.parametrize(
    ("atoms", "groups", "splits"),
    [
        ([atom("N"), atom("N", "A")], {}, []),
        ([atom("A", "Q")], {}, []),
        ([atom("N", "A"), atom("A")], {}, []),
        ([], {"h": OrGroup(choices=("A", "Q"), selected="A")}, []),
        ([atom("N", or_group="h")], {"h": OrGroup(choices=("N", "A"), selected="N")}, []),
        ([atom("N", or_group="h")], {"h": OrGroup(choices=("N", "Y"), selected="N")}, []),
        ([atom("N", or_group="h")], {"h": OrGroup(choices=("N", "later"), selected="N")}, []),
        ([], {"h": OrGroup(choices=("V", "W"), selected="V"), "i": OrGroup(choices=("W",), selected="W")}, []),
        ([atom("V")], {"h": OrGroup(choices=("V", "V"), selected="V")}, []),
        ([atom("V")], {"h": OrGroup(choices=("V",), selected="W")}, []),
        ([], {"g": OrGroup(choices=("X",), selected="X")}, []),
        ([atom("N")], {}, [split("gone", "N", "A")]),
        ([atom("N")], {}, [split("Q", "N"), split("Q", "A")]),
    ],
)  # fmt: skip
def test_growth_that_makes_a_loop_invalid_is_answered_as_by_a_graph(
    atoms: list[Atom], groups: dict[str, OrGroup], splits: list[Decomposition], ask: bool
) -> None:
    loop = a_race()
    loop.atoms += [atom("A"), atom("B", "A", "later", "W")]
    board = asked(loop) if ask else Board(loop)
    board.grow(atoms, groups, splits)
    assert_up_to_date(board)
    change(board, "D", status="resolved")
    assert_up_to_date(board)


@pytest.mark.parametrize(
    "group", [OrGroup(choices=("A", "B"), selected="B"), OrGroup(choices=("A", "B"), selected="C")]
)
def test_a_group_that_nobody_knew_can_be_put(group: OrGroup) -> None:
    board = asked(a_loop(atom("A", or_group="h"), atom("B", or_group="h"), atom("C", "A"), or_groups={}))
    board.put_group("h", group)
    assert board.or_groups == {"h": group}
    assert_up_to_date(board)


def test_a_choice_of_two_groups_is_answered_as_by_a_graph() -> None:
    groups = {"g": OrGroup(choices=("X", "Y"), selected="X"), "h": OrGroup(choices=("Y", "Z"), selected="Z")}
    loop = a_loop(*(atom(one) for one in "XYZ"), atom("Q", "Y"), or_groups=groups)
    board = asked(loop)
    for one, status in (("X", "resolved"), ("Z", "resolved"), ("X", "pending")):
        change(board, one, status=status)
        assert_up_to_date(board)


# --- what follows, by example ------------------------------------------------------------------------------------


def test_what_an_unselected_choice_did_meets_nothing() -> None:
    loop = a_race()
    loop.atoms[3] = replace(loop.atoms[3], status="resolved")
    board = asked(loop)
    assert "Q" not in board.ready()
    change_group(board, "g", selected="Y")
    assert "Q" in board.ready()


def test_a_racer_is_not_ready_any_more_when_another_one_was_first() -> None:
    loop = a_race(speculative=True)
    loop.atoms[:2] = [atom("D", status="resolved"), atom("E", status="resolved")]
    board = asked(loop)
    assert set(board.ready()) == {"X", "Y"}
    change(board, "X", status="resolved")
    assert board.ready() == ["Q"]
    change(board, "X", status="pending")
    assert_up_to_date(board)


def test_an_atom_that_costs_nothing_is_not_ready_any_more_when_it_was_decomposed() -> None:
    board = asked(a_loop(atom("P", estimate=0.0), atom("A", estimate=0.0)))
    board.grow([atom("C", estimate=0.0)], {}, [split("P", "C")])
    assert_up_to_date(board)
    board.grow([], {}, [split("A", "C")])
    assert_up_to_date(board)


def test_a_group_of_one_choice_that_somebody_needs_can_be_widened() -> None:
    board = asked(a_loop(atom("X", or_group="g"), atom("Q", "X")))
    board.grow([atom("Y", or_group="g")], {"g": OrGroup(choices=("X", "Y"), selected="Y")})
    assert_up_to_date(board)
    assert board.consumers == {"X": ["Q"], "Y": ["Q"]}


def test_choices_that_are_only_named_do_not_stand_in_the_way() -> None:
    later = tuple(f"later{number}" for number in range(20))
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"),
        or_groups={"g": OrGroup(choices=("X", "Y", *later), selected="X")},
    )  # fmt: skip
    board = asked(loop)
    for selected in ("Y", "X"):
        change_group(board, "g", selected=selected)
        assert board.ready() == [selected]


def test_news_of_a_path_are_told_once() -> None:
    board = asked(a_loop(atom("A"), atom("B", "A"), atom("C")))
    board.take_news()
    change(board, "B", estimate=9.0)
    assert board.take_news() == {"A", "B"}
    change(board, "C", status="in_progress")
    assert board.take_news() == {"C"}
