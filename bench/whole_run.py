"""A whole run of a large graph in the simulator, against graphlib's TopologicalSorter walking the same graph.

A run decides after every report, keeps generations, picks the best of what is ready, records every result and asks for
merges; the sorter only hands out what is ready, in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from graphlib import TopologicalSorter

from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.simulator import AllGoesWell, simulate
from bench.events import layered
from bench.measure import Row, in_turn

SIZES = {1_000: 5, 10_000: 3, 100_000: 2}
"""Atoms, and rounds."""


def rows() -> Iterator[Row]:
    for atoms, rounds in SIZES.items():
        loop = layered(atoms)
        limits = replace(loop.objective.constraints, max_iterations=10**9)
        loop.objective = replace(loop.objective, constraints=limits)
        best = in_turn({"ours": partial(run, loop), "graphlib": partial(walk, loop)}, rounds)
        yield Row(
            f"whole run of {atoms:,} atoms / graphlib walking them",
            best["ours"],
            best["graphlib"],
            f"{best['ours'] / atoms * 1000:.0f} us per atom",
            "other",
        )


def run(loop: Loop) -> None:
    simulated = simulate(loop.snapshot(), AllGoesWell())
    if simulated.status != "completed":
        raise RuntimeError(simulated.reason)


def walk(loop: Loop) -> None:
    sorter = TopologicalSorter({atom.id: atom.depends_on for atom in loop.atoms})
    sorter.prepare()
    while sorter.is_active():
        for one in sorter.get_ready():
            sorter.done(one)
