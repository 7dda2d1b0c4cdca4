"""One durable update of a large file, against writing, syncing and renaming the same bytes with nothing else.

A run appends its updates to a log; that is compared with a bare append and sync, and large files with small ones.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.statefile.logged_store import LoggedStore
from aotloop.statefile.store import Store
from bench.files import state_file
from bench.measure import Row, in_turn

ROUNDS = 150
ATOMS = 1_000


SMALL, LARGE = 100, 10_000


def rows() -> Iterator[Row]:
    yield from whole_files()
    yield from logged()


def logged() -> Iterator[Row]:
    """The file follows every 0.1 s, in a thread; what that costs an update is in the figures."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        works: dict[str, Callable[[], None]] = {"append": _appended(folder, stack)}
        for atoms in (SMALL, LARGE):
            path = Path(folder, f"{atoms}.md")
            path.write_bytes(state_file(atoms))
            works[str(atoms)] = _updated(stack.enter_context(LoggedStore(str(path))), atoms)
        medians = in_turn(works, ROUNDS, median)
    small, large = medians[str(SMALL)], medians[str(LARGE)]
    name = "update of a run"
    yield Row(f"{name} at {LARGE:,} atoms / at {SMALL}", large, small, "goal: at most 1.2 for an atom in all", "other")
    yield Row(f"{name} at {LARGE:,} atoms / bare append+sync", large, medians["append"], "", "other")


def _updated(store: LoggedStore, atoms: int) -> Callable[[], None]:
    numbers = count()

    def work() -> None:
        store.update(lambda loop: _toggle(loop, next(numbers) * 7 % atoms))

    for _ in range(3):  # the first ones read the file and prove its cuts
        work()
    return work


def _appended(folder: str, stack: ExitStack) -> Callable[[], None]:
    descriptor = os.open(f"{folder}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    stack.callback(os.close, descriptor)

    def work() -> None:
        os.write(descriptor, b"x" * 4000)
        os.fdatasync(descriptor)

    return work


def whole_files() -> Iterator[Row]:
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
