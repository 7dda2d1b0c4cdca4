"""What a session starts at once: nothing that clashes, no more than there are slots."""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import StartAttempt
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Constraints
from aotloop.core.scheduler.run_state import Run
from aotloop.core.scheduler.slots import fill_slots, start_now
from tests.loops import a_loop, atom


def started(*atoms: Atom, slots: int = 3, shares_a_tree: bool = False) -> list[str]:
    graph = Graph(a_loop(*atoms, constraints=Constraints(max_parallel_agents=slots)))
    return start_now(graph, graph.ready(), shares_a_tree=shares_a_tree)


def test_as_many_as_there_are_slots_for() -> None:
    atoms = [atom(f"A{number}") for number in range(1, 6)]
    assert started(*atoms) == ["A1", "A2", "A3"]
    assert started(*atoms, atom("A6", status="in_progress")) == ["A1", "A2"]
    assert started(*atoms, *(atom(f"B{number}", status="in_progress") for number in range(4))) == []


def test_what_waits_is_not_started() -> None:
    assert started(atom("A1"), atom("A2", "A1"), atom("A3")) == ["A1", "A3"]


def test_of_those_that_touch_the_same_the_best_comes_first_and_others_go_beside_it() -> None:
    atoms = (
        atom("A1", touches=("src/api/**",)),
        atom("A2", touches=("src/**",), estimate=9.0),
        atom("A3", touches=("docs/**",)),
        atom("A4", touches=("src/web/**",)),
    )
    assert started(*atoms) == ["A2", "A3"]


def test_what_is_in_progress_keeps_its_files() -> None:
    assert started(atom("A1", touches=("src/**",)), atom("A2", status="in_progress", touches=("src/a.py",))) == []


def test_in_a_tree_of_ones_own_nothing_said_is_no_clash() -> None:
    assert started(atom("A1"), atom("A2", touches=("src/**",)), atom("A3")) == ["A1", "A2", "A3"]


def test_in_a_shared_tree_only_what_says_so_goes_together() -> None:
    said = (atom("A1", touches=("a/**",)), atom("A2", touches=("b/**",)), atom("A3", touches=("a/x",)))
    assert started(*said, shares_a_tree=True) == ["A1", "A2"]
    assert started(atom("A0"), *said, shares_a_tree=True) == ["A0"]
    assert started(*said, atom("A4", status="in_progress"), shares_a_tree=True) == []


def test_in_a_shared_tree_whatever_does_not_say_what_it_touches_waits_for_those_that_do() -> None:
    assert started(atom("A1", touches=("a/**",)), atom("A2"), atom("A3", touches=("b",)), shares_a_tree=True) == [
        "A1",
        "A3",
    ]


# --- commands of a run in the project's folder -------------------------------------------------------------------


def running(*atoms: Atom, slots: int = 3) -> list[str]:
    run = Run(a_loop(*atoms, constraints=Constraints(max_parallel_agents=slots)), shares_a_tree=True)
    run.has_begun = True
    return [effect.atom for effect in fill_slots(run) if isinstance(effect, StartAttempt)]


def test_in_the_projects_folder_commands_with_files_of_their_own_run_at_once() -> None:
    atoms = [atom(f"A{number}", run="make", touches=(f"part{number}/**",)) for number in range(5)]
    assert running(*atoms) == ["A0", "A1", "A2"]
    assert running(*(replace(one, touches=("src/**",)) for one in atoms)) == ["A0"]


def test_in_the_projects_folder_commands_that_say_so_run_at_once() -> None:
    atoms = [atom(f"A{number}", run="make", parallel=True) for number in range(5)]
    assert running(*atoms) == ["A0", "A1", "A2"]
    assert running(atom("B", run="make"), *atoms) == ["B"]
    assert running(*atoms[:1], atom("B", run="make"), *atoms[1:]) == ["A0", "A1", "A2"]
    assert running(*atoms[:1], atom("B", run="make", touches=("src/**",))) == ["A0"]


def test_in_the_projects_folder_an_agent_is_alone() -> None:
    agents = [atom(f"A{number}", parallel=True, touches=(f"part{number}/**",)) for number in range(3)]
    assert running(*agents) == ["A0"]
    assert running(*(replace(one, run="make", probe=True) for one in agents)) == ["A0"]
