"""What a run says about its agents before it begins: which client, which version, and what that client lacks."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from aotloop.agents.client.detection import Presence
from aotloop.agents.client.versions import all_with_versions
from aotloop.agents.contract import Backend, Capabilities
from aotloop.app.preflight.agents import hire, likely_agents
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.core.checks.checklist import JUDGED, Node, atom_check_tree, base_case_tree, leaves
from aotloop.core.limits import Limits
from aotloop.core.model import Loop
from aotloop.execution import run_events
from aotloop.execution.agent_pool import SHELL

PATIENCE = 5.0


def agent_report(loop: Loop, config: Config, limits: Limits) -> Iterator[run_events.RunEvent]:
    backends = {name: hire(config, name)[0] for name in likely_agents(loop, config)}
    backends = {name: backend for name, backend in backends.items() if backend.name != SHELL}
    found = all_with_versions({name: backend.look() for name, backend in backends.items()}, PATIENCE)
    matters = matters_of(loop, limits)
    for name, backend in backends.items():
        yield _found(name, backend, found[name])
        texts = [*_doubts(name, found[name]), *shortcomings(name, _able(backend, name, config), matters)]
        yield from (run_events.Warned(at=now(), text=text) for text in texts)


def _able(backend: Backend, name: str, config: Config) -> Capabilities:
    """What a client costs that counts its tokens is known where the configuration tells their price."""
    able = backend.capabilities
    is_priced = able.cost_report == "missing" and config.price_of(name) is not None
    return replace(able, cost_report="emulated") if is_priced else able


def _found(name: str, backend: Backend, presence: Presence) -> run_events.RunEvent:
    return run_events.AgentFound(
        at=now(),
        agent=name,
        backend=backend.name,
        program=presence.program,
        version=presence.version,
        problem=presence.problem,
    )


def _doubts(name: str, presence: Presence) -> Iterator[str]:
    if presence.doubt is not None:
        yield f"{name} {presence.doubt}"
    if presence.is_missing:
        yield f"{name} cannot be used: {presence.problem}; {presence.remedy}"
    elif presence.login is not None and presence.login.state == "no":
        yield f"{name} seems not to be logged in: {presence.login.because}; {presence.log_in}"


class Matters(msgspec.Struct, frozen=True, kw_only=True):
    max_cost_usd: float | None = None
    only_looks: bool = False
    """A probe or a judge is needed: an agent that looks and changes nothing."""


def matters_of(loop: Loop, limits: Limits) -> Matters:
    return Matters(max_cost_usd=limits.max_cost_usd, only_looks=_is_probed(loop) or _is_judged(loop))


def shortcomings(agent: str, capabilities: Capabilities, matters: Matters) -> Iterator[str]:
    """At most one sentence for each thing that matters."""
    if matters.max_cost_usd is not None and capabilities.cost_report != "native":
        yield _COST[capabilities.cost_report].format(agent=agent, limit=f"${matters.max_cost_usd:,.2f}")
    if matters.only_looks and capabilities.tool_restriction != "native":
        yield _RESTRICTION[capabilities.tool_restriction].format(agent=agent)
    if capabilities.structured_output != "native":
        yield _ANSWERS[capabilities.structured_output].format(agent=agent)


_COST = {
    "missing": "{agent} does not tell what it costs, so the limit of {limit} cannot be kept",
    "emulated": "{agent} may not tell what it costs; then the configured price of its tokens counts, and the limit of"
    " {limit} is only as exact as that price",
}
_RESTRICTION = {
    "missing": "{agent} cannot be kept from writing: if it changes files as a probe or judge, its findings do not"
    " count",
    "emulated": "{agent} is kept from writing only where it asks first: if it changes files as a probe or judge, its"
    " findings do not count",
}
_ANSWERS = {
    "missing": "{agent} gives no answers that a program can read, so every attempt looks like a failure",
    "emulated": "{agent} is asked for its answer in words, because it cannot be given a schema: an answer that does"
    " not fit costs an attempt",
}


def _is_probed(loop: Loop) -> bool:
    """Where a person, or an agent, asked for it; alternatives also once it is known what a probe costs."""
    is_asked_for = any(atom.probe and atom.status != "resolved" for atom in loop.atoms)
    may_pay = loop.control.prices.probes > 0
    return is_asked_for or (may_pay and any(not or_group.speculative for or_group in loop.or_groups.values()))


def _is_judged(loop: Loop) -> bool:
    trees: list[Node] = [base_case_tree(loop.objective.base_case)]
    trees += [atom_check_tree(atom.check, atom.id) for atom in loop.atoms if atom.check is not None]
    return any(leaf.check.type in JUDGED for tree in trees for leaf in leaves(tree))
