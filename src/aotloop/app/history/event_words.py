"""Describes each event in one plain line, for a log and for a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aotloop.app.history.costs import spending
from aotloop.app.history.loop_history import half_spent_in_words
from aotloop.core.model import Used
from aotloop.core.phases.gaps import proof_in_words
from aotloop.execution import run_events as kinds
from aotloop.execution import ship_events
from aotloop.text.phrases import counted, lasting, listed
from aotloop.text.sanitize import prose, visible
from aotloop.text.shorten import shorten

LONGEST = 240
MOST_NAMED = 6

OUTCOMES = {
    "done": "finished",
    "proposed": "proposes to split it",
    "probed": "has examined it",
    "must_wait": "has to wait",
    "failed": "did not succeed",
    "garbage": "gave no usable answer",
    "timed_out": "ran out of time",
    "crashed": "ended unexpectedly",
    "cancelled": "was cancelled",
    "unavailable": "could not be started",
}
HINDRANCES = {
    "refused": "not merged, because its check fails together with work merged meanwhile",
    "conflict": "not merged, because it conflicts with work merged meanwhile",
    "blocked": "waits to be merged",
}


def words(event: kinds.RunEvent) -> str | None:
    """None only for an unknown kind of event."""
    writer = _WORDS.get(type(event))
    return shorten(writer(event), LONGEST) if writer is not None else None


def clause(text: str, before: str = ": ") -> str:
    """The text on one line, shortened; an empty text gives nothing."""
    shown = prose(text[: 8 * LONGEST])
    return f"{before}{shown}" if shown else ""


def first_line(text: str) -> str:
    """The description of a failure, without the output that follows it."""
    return text.strip().partition("\n")[0].removesuffix("; its last output:")


def name(of: str) -> str:
    """The whole id, unless it is too long to read."""
    return shorten(visible(of[: LONGEST + 1]), LONGEST)


def names(of: Sequence[str]) -> str:
    return listed([*map(name, of[:MOST_NAMED]), *of[MOST_NAMED:]], MOST_NAMED)


# --- the run -----------------------------------------------------------------------------------------------------


def _run_began(event: kinds.RunBegan) -> str:
    where = f" on {name(event.branch)}" if event.branch else ""
    most = f"up to {event.slots} at once"
    in_place = "in place, one at a time" if event.slots == 1 else f"in place, {most} if they are commands that may"
    how = most if event.isolation == "worktree" else in_place
    return f"the run began{where}, {how}{clause(event.goal)}"


def _agent_found(event: kinds.AgentFound) -> str:
    kind = f" ({name(event.backend)})" if event.backend != event.agent else ""
    version = f" {name(event.version)}" if event.version else ""
    where = f", {name(event.program)}" if event.program else ""
    return f"the agent is {name(event.agent)}{kind}{version}{where}{clause(event.problem or '')}"


def _warned(event: kinds.Warned) -> str:
    about = f"{name(event.atom)}: " if event.atom is not None else ""
    return f"{about}warning{clause(event.text)}"


def _corrected(event: kinds.CorrectionTaken) -> str:
    return f"a person's correction was applied{clause(event.text)}"


def _paused(event: kinds.Paused) -> str:
    goes_on = f"; {names(event.running)} will still finish" if event.running else ""
    return f"paused: nothing new starts{goes_on} (aot resume ends the pause)"


def _end_announced(event: kinds.EndAnnounced) -> str:
    attempts = counted(len(event.running), "attempt")
    does = f"ending {attempts}" if event.are_ended else f"waiting for {attempts}"
    cause = "limit reached" if event.reason.startswith("limit:") else "the run ends"
    return f"{cause}, {does} ({names(event.running)}){clause(event.reason.removeprefix('limit: '))}"


def _run_ended(event: kinds.RunEnded) -> str:
    after = f" after {lasting(event.seconds)}" if event.seconds >= 1 else ""
    spent = _spent(event.cost_usd, event.used)
    if event.status == "stopped":
        return f"the run stopped{after}{spent}{clause(event.reason or '')}"
    if not event.worked:
        return "the base case already holds; no work was needed"
    return f"the base case holds; the run is complete{after}{spent}"


def _spent(usd: float, used: Used) -> str:
    return "".join(f", {event}" for event in spending(usd, used))


# --- attempts ----------------------------------------------------------------------------------------------------


def attempt_of(event: kinds.AttemptBegan | kinds.AttemptEnded) -> str:
    """The name of the attempt; journals of earlier versions have only a number."""
    return name(event.name) if event.name else f"{name(event.atom)}: attempt {event.attempt}"


def _attempt_began(event: kinds.AttemptBegan) -> str:
    purpose = ", as a probe" if event.role == "probe" else ""
    agent = f", by {name(event.agent)}" if event.agent else ""
    return f"{attempt_of(event)} began{agent}{purpose}{clause(event.description)}"


def _attempt_ended(event: kinds.AttemptEnded) -> str:
    how = OUTCOMES.get(event.outcome) or f"ended ({name(event.outcome)})"
    after = f" after {lasting(event.seconds)}" if event.seconds >= 1 else ""
    spent = _spent(event.cost_usd or 0.0, event.used)
    is_refused = event.outcome == "unavailable"  # then the second line is the remedy
    summary = event.summary.replace("\n", ". ", 1) if is_refused else event.summary
    return f"{attempt_of(event)} {how}{after}{spent}{clause(summary)}"


def _merged(event: kinds.Merged) -> str:
    how = f"merged as {name(event.commit[:10])}" if event.commit else "accepted; there was nothing to merge"
    where = f", checked on {name(event.checked_on)}" if event.checked_on else ""
    return f"{name(event.name or event.atom)}: {how}{where}"


def _not_merged(event: kinds.NotMerged) -> str:
    return f"{name(event.name or event.atom)}: {HINDRANCES[event.why]}{clause(event.reason)}"


def _taken_back(event: kinds.TakenBack) -> str:
    if event.problem is not None:
        return f"{names(event.atoms)}: could not be reverted on the branch{clause(event.problem)}"
    return f"{names(event.atoms)}: reverted on the branch"


# --- the loop ----------------------------------------------------------------------------------------------------


def _resolved(event: kinds.AtomResolved) -> str:
    return f"{name(event.atom)}: resolved{clause(event.summary)}"


def _failed(event: kinds.AtomFailed) -> str:
    in_all = max(event.failures, event.attempts)
    if event.attempts >= event.allowed or not event.others:
        often = "once" if in_all == 1 else f"{in_all:,} times"
    else:
        more = f" ({in_all:,} in all)" if in_all > event.attempts else ""
        often = f"{event.attempts:,} of {event.allowed:,} times in this turn{more}"
    again = "runs again when something was merged" if event.is_command else "will be tried again"
    return f"{name(event.atom)}: failed {often}, and {again}"


def _nothing_left(event: kinds.NothingLeft) -> str:
    return f"{name(event.atom) if event.atom is not None else 'base case'}: nothing more can be tried"


def _switched(event: kinds.SwitchedTo) -> str:
    again = f"; {names(event.again)} will be done again" if event.again else ""
    reason = clause(first_line(event.reason))
    return f"{name(event.or_group)}: {name(event.selected)} instead of {name(event.left)}{again}{reason}"


def _reopened(event: kinds.AtomsReopened) -> str:
    return f"{names(event.atoms)}: open again, because items of the base case that they cover fail"


def _added(event: kinds.AtomsAdded) -> str:
    return f"new: {names(event.atoms)}"


def _withdrawn(event: kinds.PartsWithdrawn) -> str:
    return f"{names(event.parents)}: will be done as one atom, without {names(event.atoms)}"


def half_spent(event: kinds.HalfSpent) -> str:
    return prose(half_spent_in_words(event))


def _half_spent(event: kinds.HalfSpent) -> str:
    return f"half is spent: {half_spent(event)}"


def _generation(event: kinds.GenerationEnded) -> str:
    stalls = f", {event.stall_count} in a row without progress" if event.stall_count else ""
    return f"iteration {event.iteration} ended{stalls}"


# --- checks ------------------------------------------------------------------------------------------------------


def _verifying(event: kinds.Verifying) -> str:
    return f"{name(event.atom) if event.atom is not None else 'base case'}: being checked"


def _verified(event: kinds.Verified) -> str:
    about = name(event.atom) if event.atom is not None else "base case"
    if event.passed:
        return f"{about}: it holds"
    found = "a person has to judge" if event.undecided else "it does not hold yet"
    first = next(iter(event.failing.items()), None)
    more = f" (and {len(event.failing) - 1} more)" if len(event.failing) > 1 else ""
    if first is None:
        return f"{about}: {found}"
    item = clause(first[0]) + more if first[0] != event.atom else more
    return f"{about}: {found}{item}{clause(first_line(first[1]))}"


def _judge_asked(event: kinds.JudgeAsked) -> str:
    return f"a {name(event.role)} was asked{_spent(event.cost_usd or 0.0, event.used)}"


# --- the phase loop ----------------------------------------------------------------------------------------------


def _ship_began(event: ship_events.ShipBegan) -> str:
    where = f" on {name(event.branch)}" if event.branch else ""
    return f"in {name(event.phase)}{where}{clause(event.feature)}"


def _entered(event: ship_events.PhaseEntered) -> str:
    forced = f"; the phase before was left by force{clause(event.forced)}" if event.forced is not None else ""
    return f"{name(event.phase)}: begins{forced}"


def _receipt(event: ship_events.ReceiptJudged) -> str:
    at = f" at {name(event.commit[:10])}" if event.commit else ""
    if event.accepted:
        return f"{name(event.phase)}: the receipt counts, {name(event.artifact)}{at}"
    return f"{name(event.phase)}: the receipt does not count{clause('; '.join(event.reasons))}"


def _turn(event: ship_events.TurnEnded) -> str:
    return f"{name(event.phase)}: turn {event.turn} of {event.most} ended, without a receipt that counts"


def _ship_ended(event: ship_events.ShipEnded) -> str:
    spent = _spent(event.cost_usd, Used())
    after = f" after {lasting(event.seconds)}" if event.seconds >= 1 else ""
    if event.status == "completed":
        proof = proof_in_words([name(phase) for phase in event.forced_phases], [name(phase) for phase in event.skipped])
        return f"shipped{after}{spent}: {proof}"
    if event.status == "waiting":
        return f"{name(event.phase)}: waits for a person{after}{spent}"
    return f"{name(event.phase)}: {name(event.status)}{after}{spent}{clause(event.reason or '')}"


_WORDS: dict[type[kinds.RunEvent], Callable[[Any], str]] = {
    kinds.RunBegan: _run_began,
    kinds.AgentFound: _agent_found,
    kinds.Warned: _warned,
    kinds.CorrectionTaken: _corrected,
    kinds.Paused: _paused,
    kinds.PauseEnded: lambda _: "the pause is over",
    kinds.EndAnnounced: _end_announced,
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
    kinds.JudgeAsked: _judge_asked,
    ship_events.ShipBegan: _ship_began,
    ship_events.PhaseEntered: _entered,
    ship_events.ReceiptJudged: _receipt,
    ship_events.TurnEnded: _turn,
    ship_events.ShipEnded: _ship_ended,
}
