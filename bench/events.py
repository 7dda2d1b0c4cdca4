"""One event (start an atom, resolve it, ask for the next one) in a large graph, against the same in a small one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import isqrt
from random import Random
from statistics import median

from msgspec.structs import replace

from aotloop.core.graph.board import Board
from aotloop.core.model import Atom, BaseCase, Control, Loop, Objective
from bench.measure import Row, in_turn

ROUNDS = 40
STEPS = 90
SMALL = 100
LARGE = (10_000, 100_000)


def rows() -> Iterator[Row]:
    boards = {f"{atoms:,}": Board(layered(atoms)) for atoms in (SMALL, *LARGE)}
    contenders: dict[str, Callable[[], object]] = {name: partial(walk, board) for name, board in boards.items()}
    times: dict[str, list[float]] = {name: [] for name in boards}
    for board in boards.values():  # the first question computes everything
        board.unresolved_count()
    for _ in range(ROUNDS):
        for name, taken in in_turn(contenders, 1).items():
            times[name].append(taken / STEPS)
        for board in boards.values():
            undo(board)
    medians = {name: median(taken) for name, taken in times.items()}
    for atoms in LARGE:
        yield Row(
            f"one event at {atoms:,} atoms / at {SMALL:,}",
            medians[f"{atoms:,}"],
            medians[f"{SMALL:,}"],
            "goal: at most 1.5",
            "other",
        )


def walk(board: Board) -> None:
    following = next(board.best_ready())
    for _ in range(STEPS):
        board.put(replace(board.atoms[following], status="in_progress"))
        board.put(replace(board.atoms[following], status="resolved"))
        following = next(board.best_ready())


def undo(board: Board) -> None:
    for atom in [one for one in board.loop.atoms if one.status != "pending"]:
        board.put(replace(atom, status="pending"))


def layered(atoms: int) -> Loop:
    """As many layers as atoms in each; every atom needs some of the layer before."""
    random, width = Random(atoms), isqrt(atoms)
    made = []
    for number in range(atoms):
        layer = number // width * width
        needs = {f"A{random.randrange(layer - width, layer)}" for _ in range(3)} if layer else set[str]()
        estimate = random.choice([None, 5.0, 20.0])
        made.append(
            Atom(
                id=f"A{number}",
                description="Port a part of the importer",
                status="pending",
                depends_on=tuple(sorted(needs)),
                estimate=estimate,
            )
        )
    return Loop(
        objective=Objective(
            goal="All parts are ported",
            base_case=BaseCase(type="command", value="make test"),
            background_intent="The old parser is no longer maintained",
            deliverables="Importer on the new parser",
            definition_of_done="All tests pass",
        ),
        control=Control(
            status="running",
            iteration=0,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
        ),
        atoms=made,
    )
