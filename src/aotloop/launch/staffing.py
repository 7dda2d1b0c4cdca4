"""Which agents a loop will use: of atoms that wait, of roles, and whoever is asked in their place."""

from __future__ import annotations

from aotloop.agents.roles import Role
from aotloop.config import Config
from aotloop.core.graph import Graph
from aotloop.core.model import Atom, Loop

_IN_A_RUN: tuple[Role, ...] = ("worker", "probe", "verifier", "judge")


def waiting_for_agents(loop: Loop) -> list[Atom]:
    """Atoms that an agent has to do, as things are; repairs and parts may come later."""
    graph = Graph(loop)
    waiting = [graph.atoms[one] for one in graph.unresolved() if one not in graph.children_of]
    return [atom for atom in waiting if atom.run is None]


def needed_agents(loop: Loop, config: Config) -> list[str]:
    """Without these, or those who are asked in their place, something that waits cannot be done."""
    names = {atom.agent or config.agent_of("worker") for atom in waiting_for_agents(loop)}
    return sorted(name for name in names if name is not None)


def likely_agents(loop: Loop, config: Config) -> list[str]:
    """Repairs, probes and judges included, which may come later."""
    roles = {name for role in _IN_A_RUN if (name := config.agent_of(role)) is not None}
    return sorted({other for name in {*needed_agents(loop, config), *roles} for other in config.chain(name)})
