"""Instructions for a coordinator that is sent back, and the messages for the person. All are short and limited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aotloop.core.effects import Effect
from aotloop.core.graph.board import Board
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.hooks.answers import Block
from aotloop.hooks.outlook import Outlook, described, last_failures, names
from aotloop.hooks.strategies import advice, changes, hints, standing
from aotloop.text.shorten import short_line


def go_on(board: Board, ahead: Outlook, effects: Iterable[Effect], *, before: int, is_session: bool) -> Block:
    """`before`: unresolved atoms at the end of the last iteration; negative if there was none."""
    control, limits = board.loop.control, limits_of(board.loop.objective.constraints)
    unresolved = board.unresolved()
    has_stalled = control.stall_count > 0
    decided = changes(board, effects)
    strategy = decided or (advice(board, ahead.ready) if has_stalled else [])
    balance = _balance(len(unresolved), before, control.stall_count)
    lines = [f"{balance} At most {attempts_left(board.loop)} more attempts.", *strategy, *hints(board)]
    if ahead.ready:
        lines += [f"Ready, best first; start workers for them, at most {limits.max_parallel_agents} at once:"]
        lines += [
            f"{description}{standing(board, atom_id)}" for atom_id, description in described(board, ahead.ready).items()
        ]
    if ahead.left_in_progress:
        ways = "integrate.py takes the result, fail_atom.py says that it failed, update_atom.py ID pending gives it up"
        lines += [f"Left in progress: {names(ahead.left_in_progress)}; {ways}."]
    if ahead.to_check:
        lines += [f"All parts of {names(ahead.to_check)} are resolved: update_atom.py ID resolved runs its check."]
    if failures := last_failures(board.loop):
        lines += ["Failed last:", *failures]
    if is_session:
        lines += ["Start aot-loop:coordinator for it; if agents cannot start agents, coordinate it yourself."]
    summary = strategy[0] if has_stalled and strategy else _continue(unresolved, decided)
    return Block(reason="\n".join(lines), message=short_line(summary, 240))


def verify_now(why: str) -> Block:
    words = (
        f"Verify now: {why}. Have aot-loop:verifier run verify_checklist.py, which evaluates the base case and records"
        " the verdict. Nothing else counts, and nothing else is asked for."
    )
    return Block(reason=words, message=f"The base case is to be verified now: {why}.")


def judge_now(items: Sequence[str]) -> Block:
    words = (
        f"No check fails, but these items of the base case need a judgement: {names(items)}. Have aot-loop:verifier"
        " judge each item that has no judgement yet, record it with evidence by record_judgement.py, and run"
        " verify_checklist.py again. If only a person's confirmation is missing then, end."
    )
    return Block(reason=words, message=f"A verifier is to judge: {names(items)}.")


def ask_a_person() -> str:
    return (
        "All atoms are resolved, and no check fails; what is left only a person can say. Look at it and say so in this"
        " session, or run `aot confirm`."
    )


def _balance(unresolved: int, before: int, stalls: int) -> str:
    if stalls:
        return f"The loop goes on: {unresolved} atoms are unresolved, and nothing got smaller {_times(stalls)}."
    if unresolved < before:
        return f"The loop goes on: reduced from {before} to {unresolved} unresolved atoms."
    return f"The loop goes on: {unresolved} atoms are unresolved."


def _times(stalls: int) -> str:
    return "this time" if stalls == 1 else f"{stalls} times in a row"


def _continue(unresolved: Sequence[str], decided: Sequence[str]) -> str:
    return f"Continue: {decided[0]}" if decided else f"Continue with what is unresolved: {names(unresolved)}."
