"""Questions about the choices of one unit: how they have done so far, and whose turn it is next."""

from __future__ import annotations

from math import ceil

from aotloop.core import turns
from aotloop.core.conflicts import untried
from aotloop.core.graph import Graph
from aotloop.core.measure import attempts_allowed
from aotloop.core.turns import at_worst, bad_luck, patience

LEAST_ALIKE = 4
"""Failures alike that say something, however few attempts there are."""


def choices_of(graph: Graph, atom_id: str) -> list[str]:
    """The atom or, if it is a choice, all choices of its group that are atoms."""
    return [one for one in graph.unit(atom_id) if one in graph.atoms]


def failures_of_unit(graph: Graph, atom_id: str) -> int:
    return sum(graph.atoms[one].failures for one in choices_of(graph, atom_id))


def is_out_of_patience(graph: Graph, atom_id: str) -> bool:
    return failures_of_unit(graph, atom_id) >= patience(graph.loop) * len(choices_of(graph, atom_id))


def not_tried_here(graph: Graph, atom_id: str) -> list[str]:
    """Other choices that had no turn since what they rest on changed: nothing is to blame before they had."""
    group = graph.group(atom_id)
    if group is None or group.speculative:
        return []
    return [one for one in untried(graph, group) if one != atom_id and not graph.atoms[one].failures]


def is_promising(graph: Graph, choice: str) -> bool:
    """It has work that holds, and has not had as much of its turn as would be too much."""
    atom, group = graph.atoms[choice], graph.group(choice)
    is_blamed = group is not None and group.blames.get(choice, 0) > 0
    return atom.partial and atom.failures < patience(graph.loop) and not is_blamed


def score(graph: Graph, name: str, choice: str) -> tuple[bool, int, int]:
    """The smaller, the sooner it is its turn: work that is there already, then failures, then the order of the file."""
    group = graph.or_groups[name]
    failures = graph.atoms[choice].failures + turns.BLAME * group.blames.get(choice, 0)
    return not is_promising(graph, choice), failures, group.choices.index(choice)


def next_in_line(graph: Graph, name: str) -> str | None:
    """Whose turn it is after that of the selected choice; None if there is no other choice."""
    group = graph.or_groups[name]
    others = [one for one in group.choices if one in graph.atoms and one != group.selected]
    return min(others, key=lambda one: score(graph, name, one), default=None)


def least_outcomes(graph: Graph, unresolved: list[str]) -> int:
    """How long a generation lasts: an attempt at each alternative of all units, and for a unit alone so many that one
    without any progress is not explained by bad luck.
    """
    ways = [len(choices_of(graph, one)) for one in unresolved]
    return max(sum(ways), ceil(turns.SWEEPS * at_worst(graph.loop) * max(ways, default=1)))


def is_hopeless(graph: Graph, atom_id: str, share: float = 1) -> bool:
    """Every choice of its unit has failed in the same way again and again, also with other choices below it; and far
    more often than any atom that got resolved in the end.
    """
    choices = choices_of(graph, atom_id)
    alike = min(graph.atoms[one].alike for one in choices)
    half = max(attempts_allowed(graph.loop) // (2 * len(choices)), LEAST_ALIKE)
    if alike >= half:  # it has had half of all attempts for itself
        return True
    if alike < share * turns.HOPELESS * bad_luck(graph.loop):
        return False
    hardest = max((atom.failures for atom in graph.loop.atoms if atom.status == "resolved"), default=0)
    return alike >= share * turns.HARDER * hardest
