"""Runs a loop in virtual time: a driver like the runner, but nothing is done, and every outcome is made up.

What comes of an attempt, and when, is asked of a `World`; so a run can be planned (`AllGoesWell`), replayed (`AsGiven`)
or provoked (`ByChance`). Only attempts and waits take time; merges, reverts and checks take none.
"""

from aotloop.simulator.simulation import Simulated, Span, simulate
from aotloop.simulator.worlds import AllGoesWell, AsGiven, ByChance, Chances, World

__all__ = ["AllGoesWell", "AsGiven", "ByChance", "Chances", "Simulated", "Span", "World", "simulate"]
