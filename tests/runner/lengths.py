"""How long things last by the rules of the core, where a test has to fill them."""

from __future__ import annotations

from aotloop.core.graph.units import least_outcomes
from aotloop.core.graph.work_graph import Graph
from tests.loops import a_loop, atom

LENGTH = least_outcomes(Graph(a_loop(atom("A1"))), ["A1"])
"""Outcomes of the first generation, with few atoms and no alternatives."""
