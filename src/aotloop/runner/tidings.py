"""What is worth telling about effects: those that are news, in the words of aotloop.runner.news."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from aotloop.agents.wording import cut, plain
from aotloop.core import effects
from aotloop.core.graph import Graph
from aotloop.core.model import Loop
from aotloop.runner import news
from aotloop.runner.clock import now

_LONGEST_REASON = 1000


def tidings(effect: effects.Effect, loop: Loop) -> Iterator[news.News]:
    at = now()
    match effect:
        case effects.Resolved(atom=atom):
            binding = loop.bindings.get(atom)
            yield news.AtomResolved(at=at, atom=atom, summary=binding.summary if binding is not None else "")
        case effects.Retry(atom=atom, attempts=attempts, allowed=allowed):
            yield _failed(loop, news.AtomFailed(at=at, atom=atom, attempts=attempts, allowed=allowed))
        case effects.Exhausted(atom=atom):
            yield news.NothingLeft(at=at, atom=atom)
        case effects.Backtracked(or_group=name, left=left, selected=selected, reset=reset):
            parts = {left, *Graph(loop).descendants(left)}
            again = tuple(one for one in reset if one not in parts)
            yield news.SwitchedTo(
                at=at, or_group=name, left=left, selected=selected, again=again, reason=_why(loop, name)
            )
        case effects.Reopened(atoms=atoms):
            yield news.AtomsReopened(at=at, atoms=atoms)
        case effects.Added(atoms=atoms):
            yield news.AtomsAdded(at=at, atoms=atoms)
        case effects.Withdrawn(parents=parents, atoms=atoms):
            yield news.PartsWithdrawn(at=at, parents=parents, atoms=atoms)


def _failed(loop: Loop, retry: news.AtomFailed) -> news.AtomFailed:
    atom = next((one for one in loop.atoms if one.id == retry.atom), None)
    if atom is None:
        return retry
    group = loop.or_groups.get(atom.or_group) if atom.or_group is not None else None
    others = len(group.choices) - 1 if group is not None else 0
    return replace(retry, failures=atom.failures, others=others)


def why_given_up(loop: Loop) -> str:
    """What made the loop go another way last: a choice that was left, or a person's correction."""
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
