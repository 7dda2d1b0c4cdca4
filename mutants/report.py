"""The final report: a table by module, every survivor, and the score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from mutants.trial import Tried


class Score(msgspec.Struct, frozen=True):
    killed: int
    in_all: int

    @property
    def percent(self) -> float:
        """Of nothing, all."""
        return 100 * self.killed / self.in_all if self.in_all else 100.0

    def __str__(self) -> str:
        return f"{self.killed} of {self.in_all} killed, {self.percent:.1f} %"


def score_of(tried: Iterable[Tried]) -> Score:
    outcomes = Counter(one.outcome for one in tried)
    return Score(outcomes["killed"] + outcomes["hung"], outcomes.total())


def table(tried: list[Tried]) -> Iterator[str]:
    yield f"{'module':28}{'mutants':>9}{'killed':>8}{'hung':>6}{'survived':>10}{'score':>9}"
    for name, of_module in _by_module(tried).items():
        yield _row(name, of_module)
    yield _row("in all", tried)


def survivors(tried: Iterable[Tried], folder: str) -> list[str]:
    alive = [one.mutant for one in _sorted(tried) if one.outcome == "survived"]
    return [f"{folder}/{one}" for one in alive]


def as_json(tried: list[Tried], *, seed: int, goal: float) -> str:
    score = score_of(tried)
    mutants = [
        {
            "module": one.mutant.module,
            "line": one.mutant.line,
            "before": one.mutant.before,
            "after": one.mutant.after,
            "outcome": one.outcome,
            "by": one.by,
        }
        for one in _sorted(tried)
    ]
    found = {
        "seed": seed,
        "goal": goal,
        "killed": score.killed,
        "in_all": score.in_all,
        "percent": round(score.percent, 2),
    }
    return msgspec.json.format(msgspec.json.encode({**found, "mutants": mutants}), indent=2).decode()


def _row(name: str, tried: list[Tried]) -> str:
    count = Counter(one.outcome for one in tried)
    percent = score_of(tried).percent
    return f"{name:28}{len(tried):9}{count['killed']:8}{count['hung']:6}{count['survived']:10}{percent:8.1f}%"


def _by_module(tried: list[Tried]) -> dict[str, list[Tried]]:
    found: dict[str, list[Tried]] = {}
    for one in _sorted(tried):
        found.setdefault(one.mutant.module, []).append(one)
    return found


def _sorted(tried: Iterable[Tried]) -> list[Tried]:
    return sorted(tried, key=lambda one: (one.mutant.module, one.mutant.line, one.mutant.before, one.mutant.after))
