"""The most memory of the work: 1,000 and 10,000 function steps, fanned out; else commands.

A chain where there is no fan-out. A contender that took long for the smaller number does not get the larger one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.peers.contenders import Contender
from bench.peers.driving import NotMeasuredError, answered
from bench.peers.rows import Row, measured, missing
from bench.peers.steps import Extent

PATIENCE = 40.0


def rows(contenders: Sequence[Contender], cache: Path, extent: Extent) -> Iterator[Row]:
    for one in contenders:
        shape = "fan" if one.has_fan_out else "chain"
        work = shape if "functions" in one.works else f"{shape}-commands"
        seconds = 0.0
        for steps in (extent.fewer, extent.many):
            print(f"{one.name}: memory at {steps:,} steps", file=sys.stderr)
            facts = {"group": "peak memory of a run, MiB", "work": f"{steps:,} steps", "unit": "MiB"}
            expected = seconds * steps / extent.fewer
            try:
                if expected > PATIENCE:
                    yield missing(f"it would take more than {PATIENCE:.0f} s", **facts, contender=one.name)
                    continue
                answer = answered(one, cache, work, steps, PATIENCE)
            except NotMeasuredError as error:
                yield missing(error, **facts, contender=one.name)
            else:
                seconds = answer.milliseconds / 1000
                yield measured([answer.peak_mib], **facts, contender=one.name, version=answer.version)
