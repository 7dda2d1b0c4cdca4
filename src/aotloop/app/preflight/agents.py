"""The agents of a loop: which agents will be used, and whether each of them can be started.

A missing agent is refused before the run begins, not in the middle of the night.
"""

from __future__ import annotations

from aotloop.agents import registry
from aotloop.agents.contract import Backend
from aotloop.agents.roles import Role
from aotloop.config.schema import Config
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.errors import StateFileInvalid, Unavailable
from aotloop.process.spec import Limits
from aotloop.text.phrases import listed

_IN_A_RUN: tuple[Role, ...] = ("worker", "probe", "verifier", "judge")


def hire(config: Config, name: str, role: Role | None = None) -> tuple[Backend, Limits]:
    kind, settings, limits = config.agent_settings(name, role)
    return registry.backend(kind, settings), limits


def refuse_without_agents(loop: Loop, config: Config) -> None:
    """Repairs, which come later, may find no agent."""
    without = [atom.id for atom in waiting_for_agents(loop) if (atom.agent or config.agent_of("worker")) is None]
    if without:
        out = f"; `aot redirect --remove {without[0]}` takes one out" if loop.control.status == "stopped" else ""
        raise StateFileInvalid(
            f"there is no agent to do: {listed(without)}",
            hint=f"Name one with --agent or in aot.toml, or give these atoms a command: `run`{out}.",
        )
    for name in likely_agents(loop, config):
        hire(config, name)
    for name in needed_agents(loop, config):
        _refuse_missing(config, name)


def _refuse_missing(config: Config, name: str) -> None:
    """An agent that is missing is no problem if another agent of its chain is there."""
    if any(config.queue_of(member) is not None for member in config.chain(name)):
        return  # a worker on another machine has it
    presences = [hire(config, member)[0].look() for member in config.chain(name)]
    if all(presence.is_missing for presence in presences):
        raise Unavailable(f"the agent {name} cannot be started: {presences[0].problem}", hint=presences[0].remedy)


# --- which agents are used ---------------------------------------------------------------------------------------


def waiting_for_agents(loop: Loop) -> list[Atom]:
    """Atoms that an agent has to do, as the loop is now; repairs and children may come later."""
    graph = Graph(loop)
    waiting = [graph.atoms[atom_id] for atom_id in graph.unresolved() if atom_id not in graph.children_of]
    return [atom for atom in waiting if atom.run is None]


def needed_agents(loop: Loop, config: Config) -> list[str]:
    """Without these, or the agents of their chains, an atom that waits cannot be done."""
    names = {atom.agent or config.agent_of("worker") for atom in waiting_for_agents(loop)}
    return sorted(name for name in names if name is not None)


def likely_agents(loop: Loop, config: Config) -> list[str]:
    """Includes the agents of repairs, probes and judges, which may come later."""
    roles = {name for role in _IN_A_RUN if (name := config.agent_of(role)) is not None}
    return sorted({other for name in {*needed_agents(loop, config), *roles} for other in config.chain(name)})
