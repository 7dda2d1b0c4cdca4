"""What an agent does not do by itself, in words, where that matters to a loop; of what does not matter, nothing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.agents.contract import Capabilities
from aotloop.core.checklist import JUDGED, Node, atom_check_tree, base_case_tree, leaves
from aotloop.core.limits import Limits
from aotloop.core.model import Loop


class Matters(msgspec.Struct, frozen=True, kw_only=True):
    max_cost_usd: float | None = None
    only_looks: bool = False
    """Somebody may be asked to look and to change nothing: a probe, a judge."""


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
    "missing": "{agent} does not tell what it costs: money cannot be counted, so the limit of {limit} cannot hold",
    "emulated": "what {agent} costs is known only if it tells, or by the configured price of its tokens:"
    " the limit of {limit} holds no better than those",
}
_RESTRICTION = {
    "missing": "{agent} cannot be kept from writing: what it changes where it may only look is noticed afterwards,"
    " and makes its findings void",
    "emulated": "{agent} is kept from writing only as far as it asks before it does: a change where it may only look"
    " is noticed afterwards, and makes its findings void",
}
_ANSWERS = {
    "missing": "{agent} gives no answers that a program can read, so that whatever it does looks like a failure",
    "emulated": "{agent} is asked for its answer in words, not held to a schema: an answer that does not fit costs"
    " an attempt",
}


def _is_probed(loop: Loop) -> bool:
    """Where a person, or an agent, asked for it; alternatives also once it is known what a probe costs."""
    is_asked_for = any(atom.probe and atom.status != "resolved" for atom in loop.atoms)
    may_pay = loop.control.prices.probes > 0
    return is_asked_for or (may_pay and any(not one.speculative for one in loop.or_groups.values()))


def _is_judged(loop: Loop) -> bool:
    trees: list[Node] = [base_case_tree(loop.objective.base_case)]
    trees += [atom_check_tree(atom.check, atom.id) for atom in loop.atoms if atom.check is not None]
    return any(leaf.check.type in JUDGED for tree in trees for leaf in leaves(tree))
