"""What the model checker found in graphs that `make test` does not go through: each stays mended."""

from __future__ import annotations

from msgspec.structs import replace
from prove.shapes import Setting, Shape, constraints_of, in_force, loop_of
from prove.world import AT, NotedRun, actions
from prove.worlds import WORLDS, explore_worlds

from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct


def happens(run: NotedRun, setting: Setting, *names: str) -> None:
    for name in names:
        possible = {one.name: one for one in actions(run, setting, may_redirect=False)}
        assert name in possible, f"{name!r} is none of {', '.join(possible)}"
        run.noted.clear()
        conduct(run, possible[name].report)


def test_two_ways_that_both_need_a_command_that_fails_end_the_run() -> None:
    """A1 needs A3, A2 needs A4: each time one was to be avoided, the other way was taken, without end."""
    shape = Shape(4, frozenset({(2, 0), (3, 1)}), ((0, 1),))
    setting = Setting(commands=True, max_total=20, max_stall=9, max_iterations=9)
    with in_force(setting):
        run = NotedRun(loop_of(shape, constraints_of(setting), setting))
        conduct(run, reports.Began(at=AT))
        happens(run, setting, "the base case fails", "A3 fails", "A4 fails")
        assert run.ending is not None
        assert run.ending.startswith("exhausted:")
        assert run.loop.control.tried == 2


def test_a_combination_is_found_though_one_of_its_choices_was_blamed_before() -> None:
    """A4 fails with A2, and the base case with A1: A3 was blamed for that, and had no turn with A2."""
    shape = Shape(4, frozenset({(1, 2), (1, 3)}), ((0, 1), (2, 3)))
    explored = explore_worlds(shape, WORLDS["one after the other"])
    assert explored.found == []
    assert explored.loops > 1000


def test_a_choice_that_came_back_meets_the_alternative_to_the_atom_that_spoke_against_it() -> None:
    """A4 fails with A2 and says so, the base case fails with A1: each time A2 was left for A1, and never met A3."""
    shape = Shape(4, frozenset({(1, 2), (1, 3)}), ((0, 1), (2, 3)))
    explored = explore_worlds(shape, WORLDS["with right hints"])
    assert explored.found == []
    assert explored.loops > 100


def test_a_repair_is_ready_or_not_by_the_patience_there_is_now() -> None:
    """What is usual changes with every success, and with it how long a repair is tried."""
    shape = Shape(3, frozenset(), (), (0, (1,)))
    setting = Setting(checked=True, is_experienced=False, max_total=40, max_stall=9, max_iterations=9)
    with in_force(setting):
        run = NotedRun(loop_of(shape, constraints_of(setting), setting))
        conduct(run, reports.Began(at=AT))
        happens(run, setting, "the base case fails", "A2 is said to be done", "A2 is merged", "the check of A1 fails")
        board = Board(run.loop)
        assert "A4" in board.ready()
        board.put(replace(board.atoms["A4"], attempts=4))
        assert board.ready() == [], "patience is four, and A3 runs"
        run.loop.control = replace(run.loop.control, won=1, needed=9)
        board.patience_changed()
        assert board.ready() == Graph(run.loop).ready() == ["A4"]
