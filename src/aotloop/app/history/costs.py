"""What a loop has cost, by atom, by agent and by role: sums of what its journal knows, and amounts in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from aotloop.app.history.attempts import Attempt, attempts_of
from aotloop.core.model import Loop, Used
from aotloop.core.policy.progress import together, tokens_of
from aotloop.execution.attempts.attempt_names import events_of_run
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.run_events import JudgeAsked
from aotloop.text.phrases import counted, dollars

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))

JUDGES = "judges"
"""In place of an agent's name: several agents may have judged."""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    attempts: int = 0
    """Attempts, or answers of judges."""
    usd: float | None = None
    """None: no agent reported its cost."""
    seconds: float = 0.0
    used: Used = Used()

    @property
    def is_known(self) -> bool:
        return self.usd is not None or tokens_of(self.used) > 0


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """The most expensive entry comes first in each table."""

    by_atom: dict[str, Cost] = {}
    by_agent: dict[str, Cost] = {}
    by_role: dict[str, Cost] = {}
    unknown_usd: float = 0.0
    """USD in the state file that the journal does not explain: it was removed, or a person noted the cost."""


def costs_of(state_file: str, loop: Loop) -> Costs:
    run_id = loop.control.run_id
    attempts = [_of_attempt(attempt) for attempt in attempts_of(state_file, run_id)]
    judges = [
        ("", JUDGES, event.role, Cost(attempts=1, usd=event.cost_usd, used=event.used))
        for event in events_of_run(EventsFile(state_file), run_id)
        if isinstance(event, JudgeAsked)
    ]
    entries = [*attempts, *judges]
    known = sum(cost.usd or 0.0 for *_, cost in entries)
    return Costs(
        by_atom=_sums((atom, cost) for atom, _, _, cost in entries if atom),
        by_agent=_sums((agent, cost) for _, agent, _, cost in entries if agent),
        by_role=_sums((role, cost) for _, _, role, cost in entries),
        unknown_usd=max(round(loop.control.cost_usd - known, 6), 0.0),
    )


def _of_attempt(attempt: Attempt) -> tuple[str, str, str, Cost]:
    cost = Cost(attempts=1, usd=attempt.cost_usd, seconds=attempt.seconds, used=attempt.used)
    return attempt.atom, attempt.agent, attempt.role, cost


def _sums(entries: Iterable[tuple[str, Cost]]) -> dict[str, Cost]:
    found: dict[str, list[Cost]] = {}
    for name, cost in entries:
        found.setdefault(name, []).append(cost)
    sums = {name: _sum(costs) for name, costs in found.items()}
    return dict(sorted(sums.items(), key=lambda entry: (-(entry[1].usd or 0.0), -tokens_of(entry[1].used))))


def _sum(costs: list[Cost]) -> Cost:
    known = [cost.usd for cost in costs if cost.usd is not None]
    return Cost(
        attempts=sum(cost.attempts for cost in costs),
        usd=round(sum(known), 6) if known else None,
        seconds=round(sum(cost.seconds for cost in costs), 3),
        used=together(cost.used for cost in costs),
    )


def spending(usd: float, used: Used, most: float | None = None) -> Iterator[str]:
    """What was spent, in money, tokens and turns; unknown amounts are left out. `most`: the limit of cost."""
    if usd or most is not None:
        yield dollars(usd) + (f" of {dollars(most)}" if most is not None else "")
    if tokens := tokens_of(used):
        yield f"{_short(tokens)} tokens"
    if used.turns:
        yield counted(used.turns, "turn")


def _short(count: int) -> str:
    for unit, letter in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f}{letter}"
    return str(count)
