"""Shapes: the explored loops, every graph up to a size, up to renaming, with every grouping into alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations, permutations, product
from unittest.mock import patch

import msgspec

from aotloop.core.graph import units
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers import status
from aotloop.core.model import (
    Atom,
    AtomCheck,
    BaseCase,
    Check,
    ChecklistItem,
    Constraints,
    Control,
    Decomposition,
    Loop,
    Objective,
    OrGroup,
    Prices,
)
from aotloop.core.policy import turns

MOST_PARTS = 2
DIGEST = "as agreed"
"""Of every objective here."""
MANY = 1000
"""Atoms that were resolved before, with about one attempt each: hardly more are usual after a few failures more."""
NEEDED = MANY - 20
PRICES = Prices(attempts=8, attempts_usd=8.0, probes=2, probes_usd=0.2, negative=1)
"""With these, a probe costs a tenth of an attempt, and says no every other time."""

Edges = frozenset[tuple[int, int]]
"""(i, j): atom j depends on atom i."""


class Shape(msgspec.Struct, frozen=True):
    """A graph: dependencies between atoms, groups of alternatives, and decompositions."""

    size: int
    edges: Edges
    groups: tuple[tuple[int, ...], ...]
    parts: tuple[int, tuple[int, ...]] | None = None

    def __str__(self) -> str:
        needs = ", ".join(f"A{j + 1}→A{i + 1}" for i, j in sorted(self.edges)) or "no dependencies"
        groups = "".join(f", {{{' | '.join(f'A{one + 1}' for one in group)}}}" for group in self.groups)
        parts = f", A{self.parts[0] + 1} = {' + '.join(f'A{one + 1}' for one in self.parts[1])}" if self.parts else ""
        return f"{self.size} atoms, {needs}{groups}{parts}"


def shapes(size: int) -> Iterator[Shape]:
    """All of them, one of each class of those that differ only in the names of their atoms."""
    seen: set[object] = set()
    pairs = list(combinations(range(size), 2))
    for chosen in product((False, True), repeat=len(pairs)):
        edges = frozenset(pair for pair, is_there in zip(pairs, chosen, strict=True) if is_there)
        for groups in _groupings(size):
            for parts in _decompositions(size):
                shape = Shape(size, edges, groups, parts)
                name = _canonical(shape)
                if name not in seen and Graph(loop_of(shape, Constraints())).find_cycle() is None:
                    seen.add(name)
                    yield shape


def _groupings(size: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to put atoms into groups of alternatives; a group may have one choice, and atoms need not be in one."""

    def place(atom: int, groups: tuple[tuple[int, ...], ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
        if atom == size:
            yield groups
            return
        yield from place(atom + 1, groups)
        for number, group in enumerate(groups):
            yield from place(atom + 1, (*groups[:number], (*group, atom), *groups[number + 1 :]))
        yield from place(atom + 1, (*groups, (atom,)))

    for groups in place(0, ()):
        if all(len(group) > 1 for group in groups):
            yield groups


def _decompositions(size: int) -> Iterator[tuple[int, tuple[int, ...]] | None]:
    yield None
    for parent in range(size):
        others = [one for one in range(size) if one != parent]
        for count in range(1, len(others) + 1):
            for children in combinations(others, count):
                yield parent, children


def _canonical(shape: Shape) -> object:
    best = None
    for order in permutations(range(shape.size)):
        name = (
            tuple(sorted((order[i], order[j]) for i, j in shape.edges)),
            tuple(sorted(tuple(order[one] for one in group) for group in shape.groups)),  # the first is tried first
            (order[shape.parts[0]], tuple(sorted(order[one] for one in shape.parts[1]))) if shape.parts else (),
        )
        if best is None or name < best:
            best = name
    return best


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """How a shape is run, and what may happen in it."""

    slots: int = 1
    max_attempts: int = 1
    max_total: int = 5
    max_stall: int = 2
    max_iterations: int = 4
    max_depth: int = 1
    patience: int = 1
    sweeps: int = 1
    share: int = 1
    hopeless: int = 99
    hint: float = 0.5
    """In place of the constants of aotloop.core.policy.turns, so that few attempts reach all that they decide."""
    is_experienced: bool = True
    """So many atoms were resolved at their first attempt that one attempt counts as usual, for any outcome here."""
    speculative: bool = False
    verify_each_iteration: bool = False
    items: int = 1
    probe: bool = False
    """The first atom is unknown territory."""
    command: bool = False
    """The last atom is done by a command."""
    commands: bool = False
    """All are."""
    probes_pay: bool = False
    """By what probes and attempts have cost before."""
    asks: bool = False
    """Workers that fail may ask for a probe."""
    progress: bool = False
    """Workers that fail may leave work that holds."""
    hints: bool = False
    """Workers that fail may say which choice they rest on is in their way."""
    covers: bool = False
    """The first atom covers the first item of the base case."""
    checked: bool = False
    """Decomposed atoms have a check of their own."""
    proposals: bool = False
    """Workers may propose to decompose."""
    garbage: bool = False
    """Agents may talk nonsense, which is another failure each time."""
    people: bool = False
    """A stop or a redirect may come at any point, one redirect on each path."""
    touching: bool = False
    """The first two atoms change the same files."""
    hindrances: bool = False
    """Merges may conflict or be blocked, attempts may have to wait, reverts may fail."""

    def __str__(self) -> str:
        """What differs from the simplest setting."""
        simplest = Setting()
        changed = {
            one: getattr(self, one) for one in self.__struct_fields__ if getattr(self, one) != getattr(simplest, one)
        }
        return ", ".join(f"{name}={value}" for name, value in changed.items()) or "the simplest setting"


def loop_of(shape: Shape, constraints: Constraints, setting: Setting | None = None) -> Loop:
    setting = setting if setting is not None else Setting()
    names = [f"A{number + 1}" for number in range(shape.size)]
    group_of = {one: f"g{number}" for number, group in enumerate(shape.groups) for one in group}
    parent = shape.parts[0] if shape.parts else None
    atoms = [
        Atom(
            id=names[one],
            description=names[one],
            status="pending",
            depends_on=tuple(names[i] for i, j in sorted(shape.edges) if j == one),
            or_group=group_of.get(one),
            probe=setting.probe and one == 0 and one != parent,
            run="true" if (setting.commands or (setting.command and one == shape.size - 1)) and one != parent else None,
            covers=("item 1",) if setting.covers and one == 0 else (),
            touches=("src/shared.py",) if setting.touching and one < 2 else (),
            check=AtomCheck(type="command", value="true") if setting.checked and one == parent else None,
        )
        for one in range(shape.size)
    ]
    groups = {
        f"g{number}": OrGroup(
            choices=tuple(names[one] for one in group),
            selected=names[group[0]],
            speculative=setting.speculative,
        )
        for number, group in enumerate(shape.groups)
    }
    splits = []
    if shape.parts is not None:
        children = tuple(names[one] for one in shape.parts[1])
        splits = [Decomposition(parent=names[shape.parts[0]], children=children, reason="parts")]
    return Loop(
        objective=_objective(constraints, setting.items),
        control=Control(
            status="pending",
            iteration=0,
            stall_count=0,
            prev_pending_count=-1,
            stop_requested=False,
            redirect_requested=False,
            won=MANY if setting.is_experienced else 0,
            needed=NEEDED if setting.is_experienced else 0,
            prices=PRICES if setting.probes_pay else Prices(),
        ),
        atoms=atoms,
        or_groups=groups,
        decompositions=splits,
    )


def _objective(constraints: Constraints, items: int) -> Objective:
    checklist = tuple(
        ChecklistItem(item=f"item {number + 1}", check=Check(type="command", value="true")) for number in range(items)
    )
    return Objective(
        goal="it works",
        base_case=BaseCase(checklist=checklist),
        background_intent="it is wanted",
        deliverables="it",
        definition_of_done="it works",
        constraints=constraints,
    )


@contextmanager
def in_force(setting: Setting) -> Iterator[None]:
    """The machine, with the constants of this setting; and hashing one objective a million times proves nothing."""
    with ExitStack() as stack:
        for name in ("PATIENCE", "SWEEPS", "SHARE", "HOPELESS", "HINT"):
            stack.enter_context(patch.object(turns, name, getattr(setting, name.lower())))
        stack.enter_context(patch.object(turns, "HARDER", 1))
        stack.enter_context(patch.object(turns, "MOST", 0.5))
        stack.enter_context(patch.object(units, "LEAST_ALIKE", setting.hopeless))
        stack.enter_context(patch.object(status, "digest_of", lambda _: DIGEST))
        yield


def constraints_of(setting: Setting) -> Constraints:
    return Constraints(
        max_iterations=setting.max_iterations,
        max_parallel_agents=setting.slots,
        max_stall_count=setting.max_stall,
        max_attempts=setting.max_attempts,
        max_total_attempts=setting.max_total,
        max_depth=setting.max_depth,
        max_children=MOST_PARTS,
        verify_each_iteration=setting.verify_each_iteration,
    )
