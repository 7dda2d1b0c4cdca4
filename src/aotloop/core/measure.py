"""How much can still happen, at most: a pair of numbers that every counted attempt makes smaller.

The *measure* of a loop is (combinations, work), compared in this order:

- combinations: how often a group can still switch, plus one. Groups have a fixed order; a switch uses up a choice of
  its own group and may free choices only of later ones, so the untried choices, read as the digits of a number with the
  earliest group first, become smaller with every switch.
- work: attempts that can still be made before another switch: what is left of each atom's attempts, of its parts, if it
  may still be decomposed, and of the rounds of repair.

An attempt that is not followed by a switch leaves less work; a switch leaves fewer combinations and no more than
`most_work`. So (combinations - 1) · most_work + work is a bound on all attempts to come. Growth counts in advance: an
atom that may be decomposed stands for all the parts, and all the alternatives among them, that it may ever have.
"""

from __future__ import annotations

from functools import cached_property
from math import log10

from aotloop.core.checklist import base_case_tree, count_repairable
from aotloop.core.conflicts import untried
from aotloop.core.graph import Graph
from aotloop.core.group_order import group_order
from aotloop.core.model import Atom, Loop

BEST_SIZE = 3
"""Of all ways to put parts into groups, groups of three have the most combinations."""


class Measure:
    """The measure of a loop as it is; with `growth`, atoms may be decomposed as far as the limits allow."""

    def __init__(self, loop: Loop, graph: Graph | None = None, *, growth: bool = True) -> None:
        self._loop = loop
        self._graph = graph if graph is not None else Graph(loop)
        self._limits = loop.objective.constraints
        self._growth = growth

    @property
    def value(self) -> tuple[int, int]:
        return self.combinations, self.work

    @property
    def attempts_left(self) -> int:
        """No more attempts than this are made, unless a person corrects the loop."""
        return (self.combinations - 1) * self.most_work + self.work

    def magnitude(self) -> float:
        """The power of ten of a bound too large to be written out."""
        switches, ways = self._switches_left
        growth = sum(map(self._log_of_growth, self._loop.atoms))
        return (growth + log10(ways) if growth else log10(switches + 1)) + log10(max(self.most_work, 1))

    # --- combinations --------------------------------------------------------------------------------------------

    @property
    def combinations(self) -> int:
        """Growth may bring groups and put others into another order; whatever it does, it was paid for in advance."""
        switches, ways = self._switches_left
        growth = 1
        for atom in self._loop.atoms:
            growth *= self._growth_of(atom)
        return (growth - 1) * ways + switches + 1

    def _growth_of(self, atom: Atom) -> int:
        """More than twice as many combinations as its parts may ever bring; of a parent, the price of a withdrawal."""
        if atom.id in self._graph.children_of:
            return 2 if self._growth and not atom.whole else 1
        growth, most = 1, self._limits.max_children
        for _ in range(self._depth_left(atom)):
            growth = 2 * _most_product(most) * growth**most + 1
        return growth

    @cached_property
    def _switches_left(self) -> tuple[int, int]:
        """How many there can be at most, and how many combinations the groups have in all."""
        order = group_order(self._graph)
        switches, ways = 0, 1
        for name in sorted(order, key=lambda one: order[one]):
            group = self._loop.or_groups[name]
            switches = switches * len(group.choices) + len(untried(self._graph, group))
            ways *= len(group.choices)
        return switches, ways

    def _log_of_growth(self, atom: Atom) -> float:
        """As `_growth_of`, without writing the number out."""
        if atom.id in self._graph.children_of:
            return log10(self._growth_of(atom))
        log, most = 0.0, self._limits.max_children
        for _ in range(self._depth_left(atom)):
            log = log10(2 * _most_product(most)) + most * log
        return log

    # --- work ----------------------------------------------------------------------------------------------------

    @property
    def work(self) -> int:
        verdict = self._loop.control.verdict
        used = sum(verdict.repair_rounds.values()) if verdict is not None else 0
        rounds = max(self._repair_rounds() - used, 0)
        return rounds * self._limits.max_attempts + sum(map(self._left, self._loop.atoms))

    @property
    def most_work(self) -> int:
        """If everything had to be done again; repairs of the base case are dropped then, and those of a parent are
        counted with the parent.
        """
        atoms = (atom for atom in self._loop.atoms if atom.repairs is None)
        return self._repair_rounds() * self._limits.max_attempts + sum(map(self._most, atoms))

    def _repair_rounds(self) -> int:
        return count_repairable(base_case_tree(self._loop.objective.base_case)) * self._limits.max_attempts

    def _most(self, atom: Atom) -> int:
        return self._own(atom, failed=0) + self._parts(atom) + self._repairs(atom, failed=0)

    def _left(self, atom: Atom) -> int:
        if atom.status == "resolved":
            return 0
        return self._own(atom, atom.attempts) + self._parts(atom) + self._repairs(atom, atom.attempts)

    def _own(self, atom: Atom, failed: int) -> int:
        """Attempts at the atom itself, and a probe. A parent may have to be done in one piece after all."""
        is_parent = atom.id in self._graph.children_of
        if is_parent and (atom.whole or not self._growth):
            return 0
        may_be_probed = atom.probe or (atom.id in self._graph.group_of and atom.findings is None)
        return max(self._limits.max_attempts - failed, 0) + may_be_probed

    def _parts(self, atom: Atom) -> int:
        if atom.id in self._graph.children_of or not (depth := self._depth_left(atom)):
            return 0
        most, attempts = self._limits.max_children, self._limits.max_attempts
        part = attempts + 1
        for _ in range(depth - 1):
            part = 2 * attempts + 1 + most * part
        return most * part + attempts

    def _repairs(self, atom: Atom, failed: int) -> int:
        """Rounds of repair if the parts are done and its own check fails; without parts, none of that has begun."""
        is_parent = atom.id in self._graph.children_of
        if atom.check is None or not (is_parent or self._depth_left(atom)):
            return 0
        attempts = self._limits.max_attempts
        return max(attempts - 1 - (failed if is_parent else 0), 0) * attempts

    def _depth_left(self, atom: Atom) -> int:
        group = self._graph.group(atom.id)
        races = group is not None and group.speculative
        if not self._growth or atom.whole or atom.run is not None or races:
            return 0
        return max(self._limits.max_depth - self._graph.depth(atom.id), 0)


def _most_product(parts: int) -> int:
    """The largest product of numbers that add up to `parts`."""
    product = 1
    while parts > BEST_SIZE + 1:
        parts -= BEST_SIZE
        product *= BEST_SIZE
    return product * max(parts, 1)
