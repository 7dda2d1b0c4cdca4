"""Progress of a run: effects that are news, and a notice when half of the budget is spent without a result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from aotloop.clock import now
from aotloop.core import effects
from aotloop.core.graph.work_graph import Graph
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.core.scheduler.run_state import Run
from aotloop.execution import run_events
from aotloop.execution.run_events import HalfSpent
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut

MOST_NAMED = 3


class Progress:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._resolved = {atom.id for atom in run.loop.atoms if atom.status == "resolved"}
        self._is_told = False
        self._tried, self._won, self._epoch = 0, 0, 0
        self._usd, self._fewest = 0.0, float("inf")
        self._start_anew(run.loop)

    def after(self, loop: Loop) -> HalfSpent | None:
        """The news, now that the loop has come so far."""
        if self._is_new(loop):
            self._start_anew(loop)
        if self._is_told or self._run.ending is not None or self._run.finished:
            return None
        spent, left = loop.control.tried - self._tried, attempts_left(loop, self._run.limits)
        if not left or not (0 < left <= spent or self._is_half_of_the_money(loop)):
            return None
        self._is_told = True
        usd = round(loop.control.cost_usd - self._usd, 6)
        return HalfSpent(at=now(), attempts=spent, more=left, cost_usd=usd, atoms=_worst(loop))

    def _is_new(self, loop: Loop) -> bool:
        # Results are kept in their order: reading all atoms each time would cost too much.
        won = max(loop.control.won - self._won, 0)
        resolved = {*islice(reversed(loop.bindings), won)} - self._resolved
        self._won = loop.control.won
        self._resolved |= resolved
        return bool(resolved) or loop.control.epoch != self._epoch or _fewest_failing(loop) < self._fewest

    def _is_half_of_the_money(self, loop: Loop) -> bool:
        limit, spent = self._run.limits.max_cost_usd, loop.control.cost_usd
        return limit is not None and spent - self._usd >= limit - spent > 0

    def _start_anew(self, loop: Loop) -> None:
        control = loop.control
        self._won = control.won
        self._tried, self._usd, self._epoch = control.tried, control.cost_usd, control.epoch
        self._fewest = _fewest_failing(loop)


def _fewest_failing(loop: Loop) -> float:
    verdict = loop.control.verdict
    return verdict.fewest_failing if verdict is not None and verdict.fewest_failing is not None else float("inf")


def _worst(loop: Loop) -> tuple[str, ...]:
    """Unresolved atoms with the most failures."""
    graph = Graph(loop)
    failed = [name for name in graph.unresolved() if graph.atoms[name].failures]
    return tuple(sorted(failed, key=lambda name: -graph.atoms[name].failures)[:MOST_NAMED])


_LONGEST_REASON = 1000


def events_of(effect: effects.Effect, loop: Loop) -> Iterator[run_events.RunEvent]:
    at = now()
    match effect:
        case effects.Resolved(atom=atom):
            binding = loop.bindings.get(atom)
            yield run_events.AtomResolved(at=at, atom=atom, summary=binding.summary if binding is not None else "")
        case effects.Retry(atom=atom, attempts=attempts, allowed=allowed):
            yield _failed(loop, run_events.AtomFailed(at=at, atom=atom, attempts=attempts, allowed=allowed))
        case effects.Exhausted(atom=atom):
            yield run_events.NothingLeft(at=at, atom=atom)
        case effects.Backtracked(or_group=name, left=left, selected=selected, reset=reset):
            parts = {left, *Graph(loop).descendants(left)}
            again = tuple(name for name in reset if name not in parts)
            yield run_events.SwitchedTo(
                at=at, or_group=name, left=left, selected=selected, again=again, reason=_why(loop, name)
            )
        case effects.Reopened(atoms=atoms):
            yield run_events.AtomsReopened(at=at, atoms=atoms)
        case effects.Added(atoms=atoms):
            yield run_events.AtomsAdded(at=at, atoms=atoms)
        case effects.Withdrawn(parents=parents, atoms=atoms):
            yield run_events.PartsWithdrawn(at=at, parents=parents, atoms=atoms)


def _failed(loop: Loop, retry: run_events.AtomFailed) -> run_events.AtomFailed:
    atom = next((atom for atom in loop.atoms if atom.id == retry.atom), None)
    if atom is None:
        return retry
    group = loop.or_groups.get(atom.or_group) if atom.or_group is not None else None
    others = len(group.choices) - 1 if group is not None else 0
    return replace(retry, failures=atom.failures, others=others, is_command=atom.run is not None)


def why_given_up(loop: Loop) -> str:
    """The last reason for another way: an abandoned choice, or a person's correction."""
    switch = next((entry for entry in reversed(loop.trail) if entry.selected is not None), None)
    correction = loop.corrections[-1] if loop.corrections else None
    if correction is not None and (switch is None or correction.timestamp > switch.timestamp):
        words = f"Corrected by a person: {correction.description}"
    else:
        words = f"{switch.or_group} goes on with {switch.selected}: {switch.reason}" if switch is not None else ""
    return cut(plain(words), _LONGEST_REASON)


def _why(loop: Loop, name: str) -> str:
    """The trail has the reason of the latest switch of a group."""
    reasons = (entry.reason for entry in reversed(loop.trail) if entry.or_group == name and entry.type != "failure")
    return next(reasons, "")
