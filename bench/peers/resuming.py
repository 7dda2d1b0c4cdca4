"""Killed (-9) within a step half-way through a chain, then started again: the time to the end, and the repeated steps.

The time is of the whole second process, with its start and its end. Every contender has to repeat the step of the kill,
so one is the least.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from bench.peers.contenders import Contender
from bench.peers.driving import NotMeasuredError, drive, scratch
from bench.peers.rows import Row, measured, missing
from bench.peers.steps import PATIENCE, Extent

GROUP = "killed half-way through a chain of {steps:,}, and started again"


def rows(contenders: Sequence[Contender], cache: Path, extent: Extent) -> Iterator[Row]:
    group = GROUP.format(steps=extent.resumed)
    for kind in ("functions", "commands"):
        able = [one for one in contenders if kind in one.works]
        taken: dict[str, list[tuple[float, int]]] = {one.name: [] for one in able}
        problems: dict[str, str] = {}
        for _ in range(min(extent.rounds, 3)):
            for one in able:
                if one.name in problems:
                    continue
                print(f"{one.name}: resuming {kind}", file=sys.stderr)
                try:
                    taken[one.name].append(_resumed(one, cache, kind, extent.resumed))
                except NotMeasuredError as error:
                    problems[one.name] = str(error)
        for one in able:
            for work, unit, place in ((f"{kind}: to the end", "ms", 0), (f"{kind}: steps done again", "steps", 1)):
                facts = {"group": group, "work": work, "unit": unit, "contender": one.name}
                if one.name in problems:
                    yield missing(problems[one.name], **facts)
                else:
                    yield measured([float(median(each[place] for each in taken[one.name]))], **facts)


def _resumed(contender: Contender, cache: Path, kind: str, steps: int) -> tuple[float, int]:
    work = "chain" if kind == "functions" else "chain-commands"
    with scratch() as folder:
        log, bomb = folder / "log", folder / "bomb"
        log.touch()
        bomb.write_text(str(steps // 2))
        drive(contender, cache, work, steps, folder, PATIENCE)
        if bomb.exists() or len(log.read_text().split()) >= steps:
            raise NotMeasuredError("it was not killed")
        second = drive(contender, cache, work, steps, folder, PATIENCE)
        done = log.read_text().split()
    if second.answer is None:
        raise NotMeasuredError("it did not go on")
    if len(set(done)) != steps:
        raise NotMeasuredError(f"{steps - len(set(done))} steps were never done")
    return second.wall, len(done) - steps
