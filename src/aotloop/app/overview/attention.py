"""Whether a loop or a feature needs a person now, and for what. One answer, for every place that shows it."""

from __future__ import annotations

from aotloop.app.preflight.agreement import changed_since_agreed
from aotloop.app.redirect.proposals import proposals_of
from aotloop.core.commands import commands_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import is_trusted


def need_of_loop(store: Store, loop: Loop, *, is_run: bool) -> str | None:
    """None: it needs no person, or it is over."""
    if loop.control.status == "completed":
        return None
    return _decision(store, loop) or (None if is_run else _ending(loop))


def _decision(store: Store, loop: Loop) -> str | None:
    """What only a person decides, whether or not a process runs the loop."""
    verdict = loop.control.verdict
    if loop.control.status != "pending" and changed_since_agreed(store, loop.objective):
        return "the objective was changed in the file; accept it or change it back"
    if verdict is not None and verdict.undecided and not Graph(loop).unresolved():
        return "confirm or reject what no program can judge"
    if not is_trusted(store.path, commands_of(loop)):
        return "read and accept its commands"
    if proposals_of(store):
        return "accept or dismiss what a session proposes (`aot proposal`)"
    return None


def _ending(loop: Loop) -> str | None:
    if loop.control.status == "running":
        return "its process is gone; `aot run` continues the loop"
    kind, _, reason = (loop.control.stop_reason or "").partition(":")
    is_stuck = loop.control.status == "stopped" and kind in ("blocked", "stalled", "exhausted", "limit", "error")
    return f"it stopped ({kind}): {reason.strip()}" if is_stuck else None


def need_of_feature(feature: PhaseLoop, *, is_run: bool) -> str | None:
    if feature.status == "waiting":
        return "approve or refuse the acceptance tests"
    if feature.status == "stopped" and not (feature.stop_reason or "").startswith("user:"):
        return f"it stopped: {feature.stop_reason}"
    if feature.status == "running" and not is_run and feature.session_id is None:
        return "its process is gone; `aot ship` continues the feature"
    return None
