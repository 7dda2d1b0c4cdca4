"""The choices of one unit: their results so far, and which of them has the next turn."""

from __future__ import annotations

from math import ceil

from aotloop.core.graph.conflict_set import untried
from aotloop.core.graph.work_graph import Graph
from aotloop.core.measure import attempts_allowed
from aotloop.core.policy import turns
from aotloop.core.policy.turns import at_worst, bad_luck, patience

LEAST_ALIKE = 4
"""The smallest number of equal failures that counts as evidence, even if there are few attempts."""


def choices_of(graph: Graph, atom_id: str) -> list[str]:
    """The atom itself or, for a choice, all choices of its group that are atoms."""
    return [choice for choice in graph.unit(atom_id) if choice in graph.atoms]


def failures_of_unit(graph: Graph, atom_id: str) -> int:
    return sum(graph.atoms[choice].failures for choice in choices_of(graph, atom_id))


def is_out_of_patience(graph: Graph, atom_id: str) -> bool:
    return failures_of_unit(graph, atom_id) >= patience(graph.loop) * len(choices_of(graph, atom_id))


def not_tried_here(graph: Graph, atom_id: str) -> list[str]:
    """Other choices that had no turn since a change below them. No earlier choice is blamed before they had a turn."""
    group = graph.group(atom_id)
    if group is None or group.speculative:
        return []
    return [choice for choice in untried(graph, group) if choice != atom_id and not graph.atoms[choice].failures]


def is_promising(graph: Graph, choice: str) -> bool:
    """The choice has work that passes, and has not used too much of its turn."""
    atom, group = graph.atoms[choice], graph.group(choice)
    is_blamed = group is not None and group.blames.get(choice, 0) > 0
    return atom.partial and atom.failures < patience(graph.loop) and not is_blamed


def score(graph: Graph, name: str, choice: str) -> tuple[bool, int, int]:
    """The order of turns, lowest first: work that exists already, then failures, then the order of the file."""
    group = graph.or_groups[name]
    failures = graph.atoms[choice].failures + turns.BLAME * group.blames.get(choice, 0)
    return not is_promising(graph, choice), failures, group.choices.index(choice)


def next_in_line(graph: Graph, name: str) -> str | None:
    """The choice that has its turn after the selected one. None if there is no other choice."""
    group = graph.or_groups[name]
    others = [other for other in group.choices if other in graph.atoms and other != group.selected]
    return min(others, key=lambda other: score(graph, name, other), default=None)


def least_outcomes(graph: Graph, unresolved: list[str]) -> int:
    """The length of a generation in attempts.

    It covers one attempt at each alternative of all units. A single unit gets enough attempts that bad luck does not
    explain a generation without progress.
    """
    ways = [len(choices_of(graph, atom_id)) for atom_id in unresolved]
    return max(sum(ways), ceil(turns.SWEEPS * at_worst(graph.loop) * max(ways, default=1)))


def is_hopeless(graph: Graph, atom_id: str, share: float = 1) -> bool:
    """Whether the choices of the unit failed in the same way again and again, also on other choices below them.

    Together they must also have failed far more often than any atom that was resolved in the end.
    """
    choices = choices_of(graph, atom_id)
    alike = len(choices) * min(graph.atoms[choice].alike for choice in choices)
    most = max(turns.MOST * attempts_allowed(graph.loop), LEAST_ALIKE * len(choices))
    if alike >= most:  # it has used nearly all attempts
        return True
    if alike < share * turns.HOPELESS * bad_luck(graph.loop):
        return False
    hardest = max((atom.failures for atom in graph.loop.atoms if atom.status == "resolved"), default=0)
    return alike >= share * turns.HARDER * hardest


def parts_done(graph: Graph) -> tuple[str, ...]:
    """Decomposed atoms with all parts resolved: only their own check is missing."""
    return tuple(
        atom_id
        for atom_id in graph.children_of
        if atom_id in graph.atoms
        and graph.atoms[atom_id].status == "pending"
        and atom_id in graph.required
        and not graph.waits_for(atom_id)
        and not graph.is_exhausted(atom_id)
    )
