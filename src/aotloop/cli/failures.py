"""How often an atom has failed, as a person reads it: in this turn, where others take turns with it, and in all."""

from __future__ import annotations

from typing import Any

from aotloop.core.graph import Graph
from aotloop.core.model import Atom
from aotloop.core.turns import patience, turn
from aotloop.core.units import choices_of, is_hopeless

ENOUGH_WITH_STALLS = 0.5
"""Of the failures that tell by themselves; see aotloop.core.endings.stalled."""


def is_failing(atom: Atom) -> bool:
    return atom.status != "resolved" and failures_of(atom) > 0


def failures_of(atom: Atom) -> int:
    """In all; files of the version before have those of one turn only."""
    return max(atom.failures, atom.attempts)


def failures_in_words(graph: Graph, atom: Atom) -> str:
    """Nothing if it has not failed."""
    in_all = failures_of(atom)
    if not in_all:
        return ""
    if atom.repairs is not None:
        return f"failed {atom.attempts} of {patience(graph.loop)} times"
    if not atom.attempts or len(choices_of(graph, atom.id)) < 2:
        return "failed once" if in_all == 1 else f"failed {in_all} times"
    more = f", {in_all} in all" if in_all > atom.attempts else ""
    return f"failed {atom.attempts} of {turn(graph.loop)} in this turn{more}"


def hopeless_of(graph: Graph) -> str | None:
    """An atom whose every choice failed in the same way again and again, for which a blocked loop needs a person."""
    return next((one for one in graph.unresolved() if is_hopeless(graph, one, ENOUGH_WITH_STALLS)), None)


def failures_as_data(atom: Atom) -> dict[str, Any]:
    return {"in_this_turn": atom.attempts, "in_all": failures_of(atom), "alike": atom.alike}
