"""The overhead of a run: 1,000 commands that do nothing, against a bare loop and against make.

The bare loop starts the same command for each atom and durably replaces a file of the same size. Every loop has to do
that if it wants to know after a crash which steps were done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Row, environment_of_a_user
from bench.peers.drivers.ours import HEAD

ATOMS = 1_000
SLOTS = 3

ATOM = """\
  - id: A{number}
    description: nothing
    status: pending
    depends_on: []
    run: {command}
"""


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(Path(folder, "ours"))
        bare = _bare(Path(folder, "bare"), (Path(folder, "ours") / ".claude" / "aot-loop-state.md").read_bytes())
        yield Row(f"one of {ATOMS:,} atoms that do nothing / bare loop", ours, bare, "goal: at most 1.5", "other")
        if shutil.which("make") is not None:
            make = _make(Path(folder, "make"))
            yield Row(f"one of {ATOMS:,} atoms that do nothing / make -j2", ours, make, "", "other")


def _ours(root: Path) -> float:
    """Milliseconds for each atom, start and end of the run included."""
    (root / ".claude").mkdir(parents=True)
    atoms = [ATOM.format(number=number, command=_command(number)) for number in range(1, ATOMS + 1)]
    (root / ".claude" / "aot-loop-state.md").write_text(HEAD.format(slots=SLOTS) + "".join(atoms) + "---\n")
    aot = str(Path(sys.executable).with_name("aot"))
    environ = environment_of_a_user(HOME=str(root.parent))
    begin = time.perf_counter()
    done = subprocess.run(
        [aot, "run", "--yes", "--isolation", "none"], cwd=root, env=environ, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - begin
    if done.returncode:
        raise AssertionError(f"{done.stdout}{done.stderr}")
    return seconds / ATOMS * 1000


def _bare(root: Path, state: bytes) -> float:
    root.mkdir()
    begin = time.perf_counter()
    for number in range(1, ATOMS + 1):
        subprocess.run(["/bin/sh", "-c", _command(number)], cwd=root, capture_output=True, check=True)
        _replace(root / "state.md", state)
    return (time.perf_counter() - begin) / ATOMS * 1000


def _replace(path: Path, data: bytes) -> None:
    draft = path.with_suffix(".tmp")
    with draft.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _make(root: Path) -> float:
    root.mkdir()
    names = " ".join(f"t{number}" for number in range(1, ATOMS + 1))
    rules = "".join(f"t{number}:\n\t@{_command(number)}\n" for number in range(1, ATOMS + 1))
    (root / "Makefile").write_text(f"all: {names}\n.PHONY: all {names}\n{rules}")
    begin = time.perf_counter()
    subprocess.run(["make", "-j2"], cwd=root, capture_output=True, check=True)
    return (time.perf_counter() - begin) / ATOMS * 1000


def _command(number: int) -> str:
    return "touch done" if number == ATOMS else "exit 0"
