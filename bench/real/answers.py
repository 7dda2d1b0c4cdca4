"""Recorded answers: the code that a model wrote, whether it passed, and how many tokens it took."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import msgspec

from bench.real.tasks import FOLDER


class RecordedAnswer(NamedTuple):
    code: int
    """Its number in the list of codes."""
    ok: bool
    tokens: int


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    task: str
    phrasing: int
    codes: tuple[str, ...]
    answers: tuple[RecordedAnswer, ...]

    @property
    def chance(self) -> float:
        return sum(answer.ok for answer in self.answers) / len(self.answers)


@cache
def recordings() -> tuple[Recording, ...]:
    lines = (FOLDER / "answers.jsonl").read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Recording) for line in lines)


def models() -> list[str]:
    return list(dict.fromkeys(one.model for one in recordings()))


def chances(model: str) -> list[float]:
    """Of each wording of each task."""
    return [one.chance for one in recordings() if one.model == model]


def mean_tokens(model: str) -> float:
    counts = [answer.tokens for one in recordings() if one.model == model for answer in one.answers]
    return sum(counts) / len(counts)
