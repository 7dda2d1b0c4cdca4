"""Valid loops of every small shape, and events that may or may not be possible in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st

from aotloop.core import events
from aotloop.core.findings import Finding
from aotloop.core.invariants import findings_of
from aotloop.core.model import (
    Atom,
    AtomCheck,
    AtomStatus,
    Binding,
    Constraints,
    Decomposition,
    Loop,
    LoopStatus,
    OrGroup,
    TrailEntry,
    Verdict,
)
from aotloop.core.objective import digest_of
from tests.loops import a_loop

thoroughly = settings(max_examples=2 * settings().max_examples)
"""For what holds of all graphs and is quick to try."""

NOW = "2026-02-02T00:00:00Z"
PASSES = AtomCheck(type="command", value="true")
ATOM_STATUSES: tuple[AtomStatus, ...] = ("pending", "in_progress", "resolved")
LOOP_STATUSES: tuple[LoopStatus, ...] = ("pending", "running", "stopped", "completed")


def errors_of(loop: Loop) -> list[Finding]:
    return [finding for finding in findings_of(loop) if finding.level == "error"]


def deep_copy(loop: Loop) -> Any:
    """All that is in a loop, sharing nothing with it."""
    return msgspec.to_builtins(loop, str_keys=True)


# --- loops -------------------------------------------------------------------------------------------------------


def some_of(names: Sequence[str], most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    if not names:
        return st.just(())
    return st.lists(st.sampled_from(names), max_size=most, unique=True).map(tuple)


class _Builder:
    """Units (an atom, or the choices of a group) in an order in which each needs only earlier ones."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.atoms: dict[str, Atom] = {}
        self.groups: dict[str, OrGroup] = {}
        self.splits: list[Decomposition] = []

    def add_unit(self, size: int) -> None:
        earlier = list(self.atoms)
        ids = [f"A{len(earlier) + number}" for number in range(1, size + 1)]
        name = f"g{len(self.groups)}" if size > 1 else None
        group = self._group(ids) if name is not None else None
        for atom_id in ids:
            is_failed = group is not None and atom_id in group.failed
            self.atoms[atom_id] = self._atom(atom_id, earlier, name, is_failed=is_failed)
        if name is not None and group is not None:
            self.groups[name] = group

    def _group(self, ids: list[str]) -> OrGroup:
        draw = self.draw
        choices = (*ids, f"{ids[-1]}_alt") if draw(st.booleans()) else tuple(ids)
        selected = draw(st.sampled_from(ids))
        failed = draw(some_of([one for one in choices if one != selected], 1))
        if draw(st.integers(0, 5)) == 0:
            failed = choices
        return OrGroup(choices=choices, selected=selected, failed=failed, speculative=draw(st.booleans()))

    def _atom(self, atom_id: str, earlier: list[str], group: str | None, *, is_failed: bool) -> Atom:
        draw = self.draw
        children = draw(some_of(earlier)) if draw(st.booleans()) else ()
        statuses: Sequence[AtomStatus] = ATOM_STATUSES
        if children:
            self.splits.append(Decomposition(parent=atom_id, children=children, reason="too much at once"))
            statuses = ("pending", "resolved") if all(map(self._satisfied, children)) else ("pending",)
        return Atom(
            id=atom_id,
            description=f"do {atom_id}",
            status="pending" if is_failed else draw(st.sampled_from(statuses)),
            depends_on=draw(some_of(earlier)),
            or_group=group,
            check=draw(st.sampled_from([None, None, PASSES])),
            estimate=draw(st.sampled_from([None, None, 0.0, 2.0, 5.0])),
            attempts=draw(st.integers(0, 1)),
            failures=draw(st.sampled_from([0, 0, 1, 30])),
            partial=draw(st.sampled_from([False, False, True])),
        )

    def _satisfied(self, atom_id: str) -> bool:
        name = self.atoms[atom_id].or_group
        counts = self.groups[name].selected if name is not None else atom_id
        return self.atoms[counts].status == "resolved"


@st.composite
def valid_loops(draw: st.DrawFn, *, largest_unit: int = 3, most_units: int = 5) -> Loop:
    """Groups with choices that are atoms or not yet, races, decompositions that share children, in any file order."""
    builder = _Builder(draw)
    for size in draw(st.lists(st.sampled_from([*range(largest_unit, 0, -1)]), min_size=1, max_size=most_units)):
        builder.add_unit(size)
    atoms = draw(st.permutations(list(builder.atoms.values())))
    has_result = [one.id for one in atoms if one.status == "resolved"]
    loop = a_loop(
        *atoms,
        status=draw(st.sampled_from(LOOP_STATUSES)),
        decompositions=builder.splits,
        or_groups=builder.groups,
        bindings={one: Binding(summary=f"did {one}", artifacts=(f"src/{one}.py",)) for one in has_result},
        constraints=Constraints(max_attempts=draw(st.integers(1, 2)), max_children=3),
        trail=[TrailEntry(reason="it broke", timestamp="2026-01-01T00:00:00Z", type="failure", atom=atoms[0].id)],
    )
    if draw(st.booleans()):
        passed = Verdict(passed=True, objective_digest=digest_of(loop.objective), at="2026-01-01T00:00:00Z")
        loop.control = msgspec.structs.replace(loop.control, verdict=passed)
    return loop


@st.composite
def any_graphs(draw: st.DrawFn) -> Loop:
    """Atoms in groups and decompositions that need each other in any way, in circles too."""
    ids = [f"A{number}" for number in range(1, draw(st.integers(1, 6)) + 1)]
    groups = {one: draw(st.sampled_from([None, None, "g", "h"])) for one in ids}
    atoms = [
        Atom(id=one, description=one, status="pending", depends_on=draw(some_of(ids, 2)), or_group=groups[one])
        for one in ids
    ]
    split = Decomposition(parent=draw(st.sampled_from(ids)), children=draw(some_of(ids, 2)), reason="parts")
    return a_loop(*atoms, decompositions=[split] if draw(st.booleans()) else [])


# --- events ------------------------------------------------------------------------------------------------------


def any_events(loop: Loop) -> st.SearchStrategy[events.Event]:
    known = [one.id for one in loop.atoms]
    named = [choice for group in loop.or_groups.values() for choice in group.choices]
    ids = [*known, *(one for one in named if one not in known), "nobody"]
    return st.sampled_from(_KINDS).flatmap(lambda kind: kind(loop, ids))


def _about_an_atom(_: Loop, ids: list[str]) -> st.SearchStrategy[events.Event]:
    return st.sampled_from(
        [
            event
            for one in ids
            for event in (
                events.AtomStarted(atom=one),
                events.AtomResolved(atom=one, summary="done"),
                events.AtomResolved(atom=one),
                events.AtomAbandoned(atom=one),
                events.AtomFailed(atom=one, reason="it broke", at=NOW),
                events.AtomFailed(atom=one, reason="it broke", at=NOW, progress=True, wants_probe=True),
                events.AtomFailed(atom=one, reason="in the way", at=NOW, because_of=tuple(ids)),
                events.AtomProbed(atom=one, feasible=False, findings="no", at=NOW),
                events.BindingWritten(atom=one, summary="written"),
            )
        ]
    )


def _added(loop: Loop, ids: list[str]) -> st.SearchStrategy[events.Event]:
    return st.builds(
        events.AtomAdded,
        description=st.just("more"),
        atom=_fresh(ids),
        depends_on=some_of(ids, 2),
        or_group=st.sampled_from([None, None, "fresh", *loop.or_groups]),
        run=st.sampled_from([None, None, "make", " "]),
        check=st.sampled_from([None, None, PASSES, AtomCheck()]),
        estimate=st.sampled_from([None, None, 1.0, -1.0, float("nan")]),
    )


def _decomposed(_: Loop, ids: list[str]) -> st.SearchStrategy[events.Event]:
    child = st.builds(events.Child, description=st.just("a part"), atom=_fresh(ids))
    return st.builds(
        events.AtomDecomposed,
        parent=st.sampled_from(ids),
        children=st.lists(child, max_size=4).map(tuple),
        reason=st.just("too large"),
    )


def _fresh(ids: list[str]) -> st.SearchStrategy[str | None]:
    return st.sampled_from([None] * 4 * len(ids) + ["B1", " ", *ids])


def _switched(loop: Loop, ids: list[str]) -> st.SearchStrategy[events.Event]:
    pairs = [(name, choice) for name, group in loop.or_groups.items() for choice in group.choices]
    pairs += [("unknown", ids[0]), *((name, "nobody") for name in loop.or_groups)]
    return st.sampled_from(pairs).map(
        lambda pair: events.BranchSwitched(or_group=pair[0], choice=pair[1], reason="too slow", at=NOW)
    )


def _about_the_loop(loop: Loop, _: list[str]) -> st.SearchStrategy[events.Event]:
    digests, commits = (digest_of(loop.objective), "another"), (None, "c1")
    about: list[events.Event] = [events.LoopStarted()]
    for reason in (None, "user: enough"):
        about += [events.LoopStopped(reason=reason), events.StopRequested(reason=reason)]
    for digest, commit in product(digests, commits):
        about.append(events.LoopCompleted(commit=commit))
        for failing in ((), ("tests",)):
            passed = not failing
            verdict = Verdict(passed=passed, objective_digest=digest, at=NOW, commit=commit, failing=failing)
            about.append(events.VerdictReached(verdict=verdict))
    return st.sampled_from(about)


_KINDS = (_about_an_atom, _about_an_atom, _about_an_atom, _added, _decomposed, _switched, _about_the_loop)
