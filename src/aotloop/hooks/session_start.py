"""SessionStart and PreCompact: a session that loses context is told the state of the loop."""

from __future__ import annotations

from aotloop.core.graph.board import Board
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Loop
from aotloop.hooks.answers import Answer, Context, Plain
from aotloop.hooks.coordinator import is_driven_by
from aotloop.hooks.outlook import MOST_NAMED, described, last_failures, names, outlook
from aotloop.hooks.payload import COORDINATOR, Payload
from aotloop.text.shorten import short_line


def at_start(payload: Payload, loop: Loop) -> Answer:
    return Context(text=_anchor(loop)) if is_driven_by(payload, loop) else Answer()


def before_compaction(payload: Payload, loop: Loop) -> Answer:
    if not is_driven_by(payload, loop):
        return Answer()
    return Plain(text=f"Keep in the summary that this session drives a loop, and how far it is:\n{_anchor(loop)}")


def _anchor(loop: Loop) -> str:
    """A text of limited length, also after a long run."""
    board = Board(loop, is_for_once=True)
    control, objective = loop.control, loop.objective
    limits = limits_of(objective.constraints)
    unresolved, ahead = board.unresolved(), outlook(board)
    lines = [
        "This session drives an AoT loop (.claude/aot-loop-state.md; read_state.py shows all of it).",
        f"Objective: {short_line(objective.goal, 400)}",
        f"Done when: {short_line(objective.definition_of_done, 400)} (only verify_checklist.py decides this)",
        f"Iteration {control.iteration} of {limits.max_iterations}, stalls: {control.stall_count}.",
        f"At most {attempts_left(loop)} more attempts.",
        f"Unresolved atoms: {len(unresolved)}",
        *described(board, unresolved[:MOST_NAMED]).values(),
    ]
    if ahead.ready:
        lines.append(f"Ready: {names(ahead.ready)}.")
    if ahead.left_in_progress:
        lines.append(f"In progress: {names(ahead.left_in_progress)}.")
    if failures := last_failures(loop):
        lines += ["Failed last:", *failures]
    return "\n".join([*lines, _next(loop)])


def _next(loop: Loop) -> str:
    if loop.control.stop_requested:
        return "Next: the person asked to stop; start nothing, and end."
    if loop.control.redirect_requested:
        return "Next: the person is changing its direction (/aot-loop:redirect); start nothing until that is done."
    if running := loop.control.steering.coordinator:
        return (
            f"Next: nothing. Its coordinator ({running}) works in the background. Believe no other statement about it."
            " Start no other one; end your turn. You are notified when it ends."
        )
    return (
        f"Next: no coordinator runs. Start {COORDINATOR} once, then end your turn; if agents cannot start agents,"
        " coordinate yourself."
    )
