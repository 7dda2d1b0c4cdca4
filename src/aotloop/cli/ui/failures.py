"""Describes how often an atom has failed: in this turn, if alternatives take turns, and in all."""

from __future__ import annotations

from typing import Any

from aotloop.core.graph.units import choices_of, is_hopeless
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.core.policy.turns import patience, turn
from aotloop.text.sanitize import prose

ENOUGH_WITH_STALLS = 0.5
"""The share of failures that is enough by itself; see aotloop.core.policy.stop_reasons.stalled."""


def is_failing(atom: Atom) -> bool:
    return atom.status != "resolved" and failures_of(atom) > 0


def failures_of(atom: Atom) -> int:
    """All failures; files of the version before contain only those of one turn."""
    return max(atom.failures, atom.attempts)


def failures_in_words(graph: Graph, atom: Atom) -> str:
    """Empty if it has not failed."""
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
    """An atom whose every choice failed repeatedly in the same way, so that a blocked loop needs a person."""
    return next((atom_id for atom_id in graph.unresolved() if is_hopeless(graph, atom_id, ENOUGH_WITH_STALLS)), None)


def failures_as_data(atom: Atom) -> dict[str, Any]:
    return {"in_this_turn": atom.attempts, "in_all": failures_of(atom), "alike": atom.alike}


def cut_off_in_words(loop: Loop) -> str | None:
    """What became of a run whose process is gone. None: the last run ended by itself, or there was none."""
    if loop.control.status != "running" or loop.control.session_id is not None:
        return None
    begun = [atom.id for atom in loop.atoms if atom.status == "in_progress"]
    again = f"; {', '.join(map(prose, begun))} will be done again" if begun else ""
    return f"no process runs this loop now, and the last run was cut off{again}: `aot run` continues the loop"
