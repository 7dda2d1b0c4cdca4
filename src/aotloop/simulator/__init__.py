"""A simulator that runs a loop in virtual time: a driver like the runner, but without real work or real outcomes.

A `World` decides the outcome and the duration of an attempt. So a run can be planned (`AllGoesWell`), replayed
(`AsGiven`) or stressed (`ByChance`). Only attempts and waits take time; merges, reverts and checks take none.
"""

from aotloop.simulator.simulation import Simulated, Span, simulate
from aotloop.simulator.worlds import AllGoesWell, AsGiven, ByChance, Chances, World

__all__ = ["AllGoesWell", "AsGiven", "ByChance", "Chances", "Simulated", "Span", "World", "simulate"]
