"""Steps that do nothing, one after the other and all at once: milliseconds for each step."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from bench.peers.contenders import Contender
from bench.peers.driving import NotMeasuredError, answered
from bench.peers.rows import Row, measured, missing

PATIENCE = 60.0
MOST_SECONDS = 10.0
"""A contender that has taken as long for one row, start-up included, is not measured again."""

TITLES = {
    "functions": "function steps, milliseconds each",
    "commands": "command steps, milliseconds each",
}
SHAPES = {"chain": "chain of", "fan": "fan-out of"}


class Extent(msgspec.Struct, frozen=True, kw_only=True):
    """How much is measured."""

    steps: tuple[int, ...] = (100, 1_000)
    rounds: int = 3
    resumed: int = 100
    many: int = 10_000
    fewer: int = 1_000
    """Numbers of steps, the same for all contenders."""
    starts: int = 11


QUICK = Extent(steps=(20,), rounds=1, resumed=10, many=100, fewer=10, starts=3)


def rows(contenders: Sequence[Contender], cache: Path, extent: Extent) -> Iterator[Row]:
    for kind in TITLES:
        able = [one for one in contenders if kind in one.works]
        for shape in SHAPES:
            for steps in extent.steps:
                yield from _row(able, cache, kind, shape, steps, extent.rounds)


def _row(able: list[Contender], cache: Path, kind: str, shape: str, steps: int, rounds: int) -> Iterator[Row]:
    """In turn, so that what else the machine does hits all of them alike."""
    work = shape if kind == "functions" else f"{shape}-commands"
    taken: dict[str, list[float]] = {one.name: [] for one in able}
    problems: dict[str, str] = {}
    versions: dict[str, str] = {}
    spent: dict[str, float] = dict.fromkeys(taken, 0.0)
    for _ in range(rounds):
        for one in able:
            if one.name in problems or spent[one.name] > MOST_SECONDS:
                continue
            print(f"{one.name}: {SHAPES[shape]} {steps:,} {kind}", file=sys.stderr)
            begin = time.monotonic()
            try:
                answer = answered(one, cache, work, steps, PATIENCE)
                taken[one.name].append(answer.milliseconds / steps)
                versions[one.name] = answer.version
            except NotMeasuredError as error:
                problems[one.name] = str(error)
            spent[one.name] += time.monotonic() - begin
    facts = {"group": TITLES[kind], "work": f"{SHAPES[shape]} {steps:,}", "unit": "ms"}
    for one in able:
        if one.name in problems:
            yield missing(problems[one.name], **facts, contender=one.name)
        else:
            yield measured(taken[one.name], **facts, contender=one.name, version=versions[one.name])
