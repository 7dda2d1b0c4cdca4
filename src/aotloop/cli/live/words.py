"""Each piece of news as one plain line, for a log and for a screen. What is part of every run is told calmly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aotloop.cli.foreign import prose, visible
from aotloop.cli.live.times import lasting
from aotloop.cli.output import counted
from aotloop.cli.spending import spending
from aotloop.core.model import Used
from aotloop.runner import news as kinds

LONGEST = 240
MOST_NAMED = 6

OUTCOMES = {
    "done": "finished",
    "proposed": "proposes to split it",
    "probed": "has looked at it",
    "must_wait": "has to wait",
    "failed": "did not succeed",
    "garbage": "gave no answer that could be used",
    "timed_out": "ran out of time",
    "crashed": "broke off",
    "cancelled": "was called off",
    "unavailable": "could not be made",
}
HINDRANCES = {
    "refused": "not merged, for its check fails on top of what was merged meanwhile",
    "conflict": "not merged, for it conflicts with what was merged meanwhile",
    "blocked": "waits to be merged",
}


def words(one: kinds.News) -> str | None:
    """None only for a kind of news that is not known here."""
    told = _WORDS.get(type(one))
    return cut(told(one)) if told is not None else None


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def clause(text: str, before: str = ": ") -> str:
    """What somebody wrote, on one line and not endless; nothing if they wrote nothing."""
    told = prose(text[: 8 * LONGEST])
    return f"{before}{told}" if told else ""


def first_line(text: str) -> str:
    """What is said of a failure; the output that shows it comes after."""
    return text.strip().partition("\n")[0].removesuffix("; its last output:")


def name(of: str) -> str:
    """An id as a whole, unless nobody would read the whole."""
    return cut(visible(of[:LONGEST]))


def names(of: Sequence[str]) -> str:
    shown = ", ".join(map(name, of[:MOST_NAMED]))
    return f"{shown} and {len(of) - MOST_NAMED:,} more" if len(of) > MOST_NAMED else shown


# --- the run -----------------------------------------------------------------------------------------------------


def _run_began(one: kinds.RunBegan) -> str:
    where = f" on {name(one.branch)}" if one.branch else ""
    how = f"up to {one.slots} at once" if one.isolation == "worktree" else "in place, one at a time"
    return f"the run began{where}, {how}{clause(one.goal)}"


def _agent_found(one: kinds.AgentFound) -> str:
    kind = f" ({name(one.backend)})" if one.backend != one.agent else ""
    version = f" {name(one.version)}" if one.version else ""
    where = f", {name(one.program)}" if one.program else ""
    return f"the agent is {name(one.agent)}{kind}{version}{where}{clause(one.problem or '')}"


def _warned(one: kinds.Warned) -> str:
    about = f"{name(one.atom)}: " if one.atom is not None else ""
    return f"{about}warning{clause(one.text)}"


def _corrected(one: kinds.CorrectionTaken) -> str:
    return f"a person's correction was taken{clause(one.text)}"


def _run_ended(one: kinds.RunEnded) -> str:
    after = f" after {lasting(one.seconds)}" if one.seconds >= 1 else ""
    spent = _spent(one.cost_usd, one.used)
    if one.status == "stopped":
        return f"the run stopped{after}{spent}{clause(one.reason or '')}"
    if not one.worked:
        return "the base case holds already; there was nothing to do"
    return f"the base case holds; the run is complete{after}{spent}"


def _spent(usd: float, used: Used) -> str:
    return "".join(f", {one}" for one in spending(usd, used))


# --- attempts ----------------------------------------------------------------------------------------------------


def _attempt_began(one: kinds.AttemptBegan) -> str:
    purpose = ", only to look" if one.role == "probe" else ""
    return f"{name(one.atom)}: attempt {one.attempt} began, by {name(one.agent)}{purpose}{clause(one.description)}"


def _attempt_ended(one: kinds.AttemptEnded) -> str:
    how = OUTCOMES.get(one.outcome) or f"ended ({name(one.outcome)})"
    after = f" after {lasting(one.seconds)}" if one.seconds >= 1 else ""
    spent = _spent(one.cost_usd or 0.0, one.used)
    return f"{name(one.atom)}: attempt {one.attempt} {how}{after}{spent}{clause(one.summary)}"


def _merged(one: kinds.Merged) -> str:
    how = f"merged as {name(one.commit[:10])}" if one.commit else "taken over; there was nothing to merge"
    return f"{name(one.atom)}: {how}"


def _not_merged(one: kinds.NotMerged) -> str:
    return f"{name(one.atom)}: {HINDRANCES[one.why]}{clause(one.reason)}"


def _taken_back(one: kinds.TakenBack) -> str:
    if one.problem is not None:
        return f"{names(one.atoms)}: could not be taken back from the branch{clause(one.problem)}"
    return f"{names(one.atoms)}: taken back from the branch"


# --- the loop ----------------------------------------------------------------------------------------------------


def _resolved(one: kinds.AtomResolved) -> str:
    return f"{name(one.atom)}: resolved{clause(one.summary)}"


def _failed(one: kinds.AtomFailed) -> str:
    in_all = max(one.failures, one.attempts)
    if one.attempts >= one.allowed or not one.others:
        return f"{name(one.atom)}: {'failed once' if in_all == 1 else f'failed {in_all:,} times'}, and is tried again"
    more = f" ({in_all:,} in all)" if in_all > one.attempts else ""
    return f"{name(one.atom)}: failed {one.attempts:,} of {one.allowed:,} times in this turn{more}, and is tried again"


def _nothing_left(one: kinds.NothingLeft) -> str:
    return f"{name(one.atom) if one.atom is not None else 'base case'}: nothing is left to try"


def _switched(one: kinds.SwitchedTo) -> str:
    again = f"; {names(one.again)} will be done again" if one.again else ""
    return (
        f"{name(one.or_group)}: {name(one.selected)} instead of {name(one.left)}{again}{clause(first_line(one.reason))}"
    )


def _reopened(one: kinds.AtomsReopened) -> str:
    return f"{names(one.atoms)}: open again, because the base case fails in what they cover"


def _added(one: kinds.AtomsAdded) -> str:
    return f"new: {names(one.atoms)}"


def _withdrawn(one: kinds.PartsWithdrawn) -> str:
    return f"{names(one.parents)}: to be done in one piece after all, without {names(one.atoms)}"


def half_spent(one: kinds.HalfSpent) -> str:
    """And what a person can do about it."""
    money = f" and ${one.cost_usd:,.2f}" if one.cost_usd else ""
    at = f" (most failures: {names(one.atoms)})" if one.atoms else ""
    return (
        f"nothing new for {counted(one.attempts, 'attempt')}{money}, at most {one.more:,} more{at}:"
        " stop it (aot stop), change its direction (aot redirect), or let it go on"
    )


def _half_spent(one: kinds.HalfSpent) -> str:
    return f"half is spent: {half_spent(one)}"


def _generation(one: kinds.GenerationEnded) -> str:
    stalls = f", {one.stall_count} in a row without progress" if one.stall_count else ""
    return f"iteration {one.iteration} ended{stalls}"


# --- checks ------------------------------------------------------------------------------------------------------


def _verifying(one: kinds.Verifying) -> str:
    return f"{name(one.atom) if one.atom is not None else 'base case'}: being checked"


def _verified(one: kinds.Verified) -> str:
    about = name(one.atom) if one.atom is not None else "base case"
    if one.passed:
        return f"{about}: it holds"
    found = "a person has to judge" if one.undecided else "it does not hold yet"
    first = next(iter(one.failing.items()), None)
    more = f" (and {len(one.failing) - 1} more)" if len(one.failing) > 1 else ""
    if first is None:
        return f"{about}: {found}"
    item = clause(first[0]) + more if first[0] != one.atom else more
    return f"{about}: {found}{item}{clause(first_line(first[1]))}"


# --- the phase loop ----------------------------------------------------------------------------------------------


def _ship_began(one: kinds.ShipBegan) -> str:
    where = f" on {name(one.branch)}" if one.branch else ""
    return f"in {name(one.phase)}{where}{clause(one.feature)}"


def _entered(one: kinds.PhaseEntered) -> str:
    forced = f"; the phase before was left by force{clause(one.forced)}" if one.forced is not None else ""
    return f"{name(one.phase)}: begins{forced}"


def _receipt(one: kinds.ReceiptJudged) -> str:
    at = f" at {name(one.commit[:10])}" if one.commit else ""
    if one.accepted:
        return f"{name(one.phase)}: the receipt counts, {name(one.artifact)}{at}"
    return f"{name(one.phase)}: the receipt does not count{clause('; '.join(one.reasons))}"


def _turn(one: kinds.TurnEnded) -> str:
    return f"{name(one.phase)}: turn {one.turn} of {one.most} ended, without a receipt that counts"


def _ship_ended(one: kinds.ShipEnded) -> str:
    spent = _spent(one.cost_usd, Used())
    after = f" after {lasting(one.seconds)}" if one.seconds >= 1 else ""
    if one.status == "completed":
        return f"shipped{after}{spent}: every receipt holds, and the acceptance tests pass"
    if one.status == "waiting":
        return f"{name(one.phase)}: waits for a person{after}{spent}"
    return f"{name(one.phase)}: {name(one.status)}{after}{spent}{clause(one.reason or '')}"


_WORDS: dict[type[kinds.News], Callable[[Any], str]] = {
    kinds.RunBegan: _run_began,
    kinds.AgentFound: _agent_found,
    kinds.Warned: _warned,
    kinds.CorrectionTaken: _corrected,
    kinds.RunEnded: _run_ended,
    kinds.AttemptBegan: _attempt_began,
    kinds.AttemptEnded: _attempt_ended,
    kinds.Merged: _merged,
    kinds.NotMerged: _not_merged,
    kinds.TakenBack: _taken_back,
    kinds.AtomResolved: _resolved,
    kinds.AtomFailed: _failed,
    kinds.NothingLeft: _nothing_left,
    kinds.SwitchedTo: _switched,
    kinds.AtomsReopened: _reopened,
    kinds.AtomsAdded: _added,
    kinds.PartsWithdrawn: _withdrawn,
    kinds.HalfSpent: _half_spent,
    kinds.GenerationEnded: _generation,
    kinds.Verifying: _verifying,
    kinds.Verified: _verified,
    kinds.ShipBegan: _ship_began,
    kinds.PhaseEntered: _entered,
    kinds.ReceiptJudged: _receipt,
    kinds.TurnEnded: _turn,
    kinds.ShipEnded: _ship_ended,
}
