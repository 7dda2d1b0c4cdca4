"""Measures and prints the table: `make bench-peers`.

Examples: `make bench-peers ARGS="--only DBOS --quick"`, `make bench-peers ARGS=--write`.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import psutil

from bench.bars import Bar, Panel, bars
from bench.peers import remembering, replacing, resuming, starting, steps, table
from bench.peers.contenders import CONTENDERS, OURS, Contender
from bench.peers.driving import ROOT, scratch
from bench.peers.environments import NotThereError, make_ready
from bench.peers.rows import Machine, Report, Row

PAGE = ROOT / "docs" / "benchmarks-peers.md"
PLOT = ROOT / "docs" / "peers.svg"
ABSENT = "not there"


def measure(contenders: Sequence[Contender], cache: Path, extent: steps.Extent) -> Iterator[Row]:
    """A contender that is not there is a row that says so."""
    ready: list[Contender] = []
    for one in contenders:
        try:
            make_ready(one, cache)
        except NotThereError as error:
            yield Row(group=ABSENT, work="all", contender=one.name, unit="ms", note=f"not measured: {error}")
        else:
            ready.append(one)
    yield from steps.rows(ready, cache, extent)
    yield from replacing.rows(extent.steps)
    yield from resuming.rows(ready, cache, extent)
    yield from starting.rows(ready, cache, extent.starts)
    yield from remembering.rows(ready, cache, extent)


def machine() -> Machine:
    return Machine(
        cores=os.cpu_count() or 1,
        python=platform.python_version(),
        system=f"{platform.system()} on {platform.machine()}",
        filesystem=_filesystem(),
        load=os.getloadavg()[0],
    )


def _filesystem() -> str:
    """Of the folder where everything is written."""
    with scratch() as folder:
        mounts = [one for one in psutil.disk_partitions(all=True) if folder.is_relative_to(one.mountpoint)]
    return max(mounts, key=lambda one: len(one.mountpoint)).fstype if mounts else "an unknown file system"


def plot(report: Report) -> str:
    """Steps, at the largest number."""
    panels = []
    for title in steps.TITLES.values():
        rows = [row for row in report.of_group(title) if row.value is not None]
        for shape in steps.SHAPES.values():
            works = [row.work for row in rows if row.work.startswith(shape)]
            shown = [
                Bar(label=row.contender, value=row.value, is_ours=row.contender == OURS)
                for row in rows
                if row.value is not None and works and row.work == works[-1]
            ]
            if shown:
                panels.append(Panel(title=f"{title.split(',')[0]}: {works[-1]}", bars=shown))
    return bars(panels, unit="ms")


def chosen(names: Sequence[str]) -> list[Contender]:
    """Ours is always there, to be compared with."""
    known = [one.name for one in CONTENDERS]
    wanted = [one for one in known if any(name.lower() in one.lower() for name in names)]
    if names and not wanted:
        sys.exit(f"no contender is called {' or '.join(names)}; there are: {', '.join(known)}")
    return [one for one in CONTENDERS if not names or one.name in {OURS, *wanted}]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description="The same work for us and for others.")
    parser.add_argument("--only", action="append", default=[], metavar="PEER", help="besides ours; may be repeated")
    parser.add_argument("--quick", action="store_true", help="few steps, one round: to see that it works")
    parser.add_argument("--json", action="store_true", help="rows as JSON instead of tables")
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks-peers.md and docs/peers.svg as well")
    parser.add_argument("--cache", type=Path, default=ROOT / ".venv" / "peers", help="where peers are installed")
    words = parser.parse_args()
    if words.write and (words.quick or words.only):
        parser.error("--write wants everything: neither --quick nor --only")
    extent = steps.QUICK if words.quick else steps.Extent()
    cache = words.cache.resolve()
    report = Report(machine=machine(), rows=tuple(measure(chosen(words.only), cache, extent)))
    print(msgspec.json.format(msgspec.json.encode(report)).decode() if words.json else table.text(report))
    if words.write:
        PAGE.write_text(table.between_markers(PAGE.read_text(), table.markdown(report)))
        PLOT.write_text(plot(report))


if __name__ == "__main__":
    main()
