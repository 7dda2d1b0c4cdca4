"""A chain of ours, update by update, against atomic replacements of files of the same sizes.

An update takes the file's lock, reads it, conducts what was reported, revises the entries, reads them back, and
replaces the file. It is measured in turn with replacements of as many bytes: write, sync, rename; and the same with a
sync of the folder, without which the rename may be lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from aotloop.core.effects import Effect
from aotloop.runner.ledger import Item
from bench.peers.contenders import OURS
from bench.peers.drivers.order import order_for
from bench.peers.drivers.ours import Driver, prepared
from bench.peers.driving import scratch
from bench.peers.rows import Row

GROUP = "one update of a chain, milliseconds"
RENAMED = "write, sync, rename"
SYNCED = "the same, and sync the folder"


class Watched(Driver):
    taken: dict[str, list[float]]

    def _exchange(self, items: list[Item]) -> list[Effect]:
        begin = time.perf_counter()
        effects = super()._exchange(items)
        self.taken[OURS].append(time.perf_counter() - begin)
        data = self.path.read_bytes()
        for name, is_synced in ((RENAMED, False), (SYNCED, True)):
            begin = time.perf_counter()
            _replace(self.path.parent.parent / "bare", data, is_synced=is_synced)
            self.taken[name].append(time.perf_counter() - begin)
        return effects


def rows(steps: tuple[int, ...]) -> Iterator[Row]:
    for number in steps:
        with scratch() as folder:
            order = order_for("chain", number, folder)
            driver = Watched(order, prepared(order, 1))
            driver.taken = {OURS: [], RENAMED: [], SYNCED: []}
            (folder / "bare").mkdir()
            driver.drive()
        for name, taken in driver.taken.items():
            value = median(taken) * 1000
            work = f"chain of {number:,}"
            yield Row(group=GROUP, work=work, contender=name, unit="ms", value=value, rounds=len(taken))


def _replace(folder: Path, data: bytes, *, is_synced: bool) -> None:
    descriptor = os.open(folder / "draft", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    (folder / "draft").rename(folder / "state")
    if is_synced:
        descriptor = os.open(folder, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
