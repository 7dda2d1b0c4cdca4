"""One durable update of a large file, against writing, syncing and renaming the same bytes with nothing else."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.statefile.store import Store
from bench.files import state_file
from bench.measure import Row, in_turn

ROUNDS = 150
ATOMS = 1_000


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        data = state_file(ATOMS)
        path = Path(folder, "state.md")
        path.write_bytes(data)
        store = Store(str(path))
        numbers = count()

        def update() -> None:
            store.update(lambda loop: _toggle(loop, next(numbers) * 7 % ATOMS))

        update()  # the first one reads the file
        medians = in_turn({"ours": update, "bare": lambda: _bare(folder, data)}, ROUNDS, median)
    yield Row(
        f"durable update at {ATOMS:,} atoms / bare write+fsync+rename",
        medians["ours"],
        medians["bare"],
        "goal: at most 2",
        "other",
    )


def _toggle(loop: Loop, number: int) -> None:
    atom = loop.atoms[number]
    loop.atoms[number] = replace(atom, status="in_progress" if atom.status != "in_progress" else "pending")


def _bare(folder: str, data: bytes) -> None:
    descriptor = os.open(f"{folder}/bare.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(descriptor, data)
    os.fsync(descriptor)
    os.close(descriptor)
    os.rename(f"{folder}/bare.tmp", f"{folder}/bare")  # noqa: PTH104
