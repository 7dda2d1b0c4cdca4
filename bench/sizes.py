"""What size costs: the commands of a person, and whole runs, on Debian's package graph of 300, 3,000 and 10,000 atoms.

`python -m bench.sizes` prints the table of docs/benchmarks.md: times, growth exponents, memory and file sizes. `--only`
takes some of the rows (`--only graph`), `--sizes 300,3000` some of the sizes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path

import msgspec

from bench.measure import Row, environment_of_a_user

SIZES = (300, 3_000, 10_000)
ROUNDS = {300: 3, 3_000: 3, 10_000: 2}
LONGEST = 300
"""Seconds; a command that takes longer has no figure."""
STATE = Path(".claude", "aot-loop-state.md")
READING = {
    "validate": ["validate"],
    "status": ["status"],
    "gate": ["gate", "--yes"],
    "graph, text": ["graph"],
    "graph, dot": ["graph", "--format", "dot"],
    "graph, svg": ["graph", "--format", "svg"],
}


class Taken(msgspec.Struct, frozen=True):
    seconds: float
    mebibytes: float
    written: int = 0
    """Bytes of standard output."""


class TooFewPackagesError(LookupError):
    """This machine cannot make a graph of that size."""


class Bench:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._texts: dict[int, bytes] = {}

    def project(self, size: int, name: str, *, in_git: bool = False) -> Path:
        if size not in self._texts:
            # Not in this process: a child's peak memory would count what its parent had when it was started.
            made = subprocess.run([sys.executable, "-m", "bench.debian", str(size)], capture_output=True, check=True)
            if made.stdout.count(b"\n  - id: ") < size:
                raise TooFewPackagesError(f"the package lists have fewer than {size:,}; `apt-get update` gets more")
            self._texts[size] = made.stdout
        root = self._folder / f"{name}-{size}"
        (root / STATE).parent.mkdir(parents=True)
        (root / STATE).write_bytes(self._texts[size])
        if in_git:
            say = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
            for words in (["init", "-q"], ["add", "-A"], [*say, "commit", "-q", "-m", "start"]):
                subprocess.run(["git", "-C", str(root), *words], check=True)
        return root

    def call(self, root: Path, words: list[str]) -> Taken | None:
        """None: it took too long."""
        with tempfile.TemporaryFile() as out:
            begin = time.perf_counter()
            process = self.start(root, words, out.fileno())
            try:
                status, used = _waited(process.pid, begin + LONGEST)
            except TimeoutError:
                process.kill()
                process.wait()
                return None
            seconds = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
            written = out.seek(0, os.SEEK_END)
            if process.returncode:
                out.seek(0)
                raise RuntimeError(f"aot {' '.join(words)}: {out.read()[-2000:].decode(errors='replace')}")
        return Taken(seconds, used / 1024, written)

    def start(self, root: Path, words: list[str], out: int) -> subprocess.Popen[bytes]:
        aot = Path(sys.executable).with_name("aot")
        environ = environment_of_a_user(HOME=str(self._folder))
        return subprocess.Popen([aot, *words], cwd=root, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def _waited(pid: int, until: float) -> tuple[int, int]:
    """The end of one process, and its largest memory in KiB."""
    while time.perf_counter() < until:
        found, status, used = os.wait4(pid, os.WNOHANG)
        if found:
            return status, used.ru_maxrss
        time.sleep(0.002)
    raise TimeoutError


def reading(
    bench: Bench, sizes: tuple[int, ...], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, int, Taken | None]]:
    for size in sizes:
        names = [name for name in READING if wanted(name)]
        root = bench.project(size, "read") if names else None
        for name in names:
            assert root is not None
            takes = [bench.call(root, READING[name])]
            while takes[-1] is not None and takes[-1].seconds < 20 and len(takes) < ROUNDS.get(size, 3):
                takes.append(bench.call(root, READING[name]))
            yield name, size, min((one for one in takes if one), key=lambda one: one.seconds, default=None)


def running(
    bench: Bench, sizes: tuple[int, ...], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, int, Taken | None]]:
    for size in sizes:
        if wanted("run in place"):
            root = bench.project(size, "place")
            before = (root / STATE).stat().st_size
            yield "run in place", size, bench.call(root, ["run", "--yes", "--isolation", "none"])
            yield "file before, MB", size, Taken(before / 1e6, 0)
            yield "file after, MB", size, Taken((root / STATE).stat().st_size / 1e6, 0)
            kept = sum(path.stat().st_size for path in root.glob(".aot/**/*") if path.is_file())
            yield "events and records, MB", size, Taken(kept / 1e6, 0)
    if wanted("run in worktrees"):
        root = bench.project(min(sizes), "trees", in_git=True)
        yield "run in worktrees", min(sizes), bench.call(root, ["run", "--yes"])


def meanwhile(
    bench: Bench, sizes: tuple[int, ...], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, int, Taken | None]]:
    for size in sizes:
        if not wanted("status while running"):
            continue
        root = bench.project(size, "meanwhile")
        with Path(os.devnull).open("wb") as nowhere:
            run = bench.start(root, ["run", "--yes", "--isolation", "none"], nowhere.fileno())
            while "run_id" not in (root / STATE).read_text(encoding="utf-8") and run.poll() is None:
                time.sleep(0.01)
            yield "status while running", size, bench.call(root, ["status"])
            begin = time.perf_counter()
            bench.call(root, ["stop"])
            run.wait()
            yield "stop while running, until the run is over", size, Taken(time.perf_counter() - begin, 0)


def exponent(small: int, large: int, less: float, more: float) -> float:
    return log(more / less) / log(large / small)


def rows() -> Iterator[Row]:
    """For `make bench`: 10,000 atoms as a ratio to 3,000, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        bench, small, large = Bench(Path(folder)), 3_000, 10_000
        taken: dict[tuple[str, int], Taken] = {}
        try:
            for part in (reading, running):
                for name, size, one in part(bench, (small, large), lambda name: name != "run in worktrees"):
                    if one is not None:
                        taken[name, size] = one
        except (TooFewPackagesError, subprocess.CalledProcessError) as error:
            print(f"no figures for large graphs: {error}", file=sys.stderr)
            return
    for name in (*READING, "run in place"):
        if (name, large) not in taken:
            continue
        less, more = taken[name, small].seconds * 1000, taken[name, large].seconds * 1000
        goal = f"goal: at most 4.5; growth exponent {exponent(small, large, less, more):.2f}"
        yield Row(f"{name}: Debian's graph, 10,000 atoms / 3,000", more, less, goal, "other")
    if ("status", large) in taken:
        yield Row(
            "status of 10,000 atoms / 1 s", taken["status", large].seconds * 1000, 1000, "goal: at most 1", "other"
        )
    for size in (small, large):
        if ("run in place", size) in taken:
            each = taken["run in place", size].seconds * 1000 / size
            yield Row(f"run in place, each of {size:,} atoms / 8 ms", each, 8, "goal: at most 1", "other")
    memory = taken["run in place", large].mebibytes if ("run in place", large) in taken else float("nan")
    yield Row("memory of a run of 10,000 atoms, MiB / 100 MiB", memory, 100, "goal: at most 1", "other")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--only", default="")
    chosen = parser.parse_args()
    sizes = tuple(map(int, chosen.sizes.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for part in (reading, running, meanwhile):
            for name, size, one in part(bench, sizes, lambda name: name.startswith(chosen.only)):
                said = (
                    "no end after 300 s"
                    if one is None
                    else f"{one.seconds:9.3f} s {one.mebibytes:8.1f} MiB {one.written:>10}"
                )
                print(f"{name:<44} {size:>7,} {said}", flush=True)


if __name__ == "__main__":
    main()
