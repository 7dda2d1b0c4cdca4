"""One process a target, since a fuzzer never returns; what it found is kept as a case."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from faults.counts import Counts, Deadline
from faults.fuzzing import seeds
from faults.fuzzing.targets import TARGETS

KIND = "fuzzed files, answers, payloads"
_WORKERS = 2
_LEAST = 8.0
"""Seconds for a target; it takes some of them to start."""
_LONGEST = "20000"
_SLOWEST = "20"
"""Seconds that one input may take."""

_RUNS = re.compile(rb"stat::number_of_executed_units:\s*(\d+)")


@dataclass(frozen=True)
class Fuzzed:
    target: str
    runs: int
    found: Path | None
    told: str


def campaign(corpus: Path, deadline: Deadline, targets: tuple[str, ...] = tuple(TARGETS)) -> Counts:
    counts, began = Counts(KIND), time.monotonic()
    if importlib.util.find_spec("atheris") is None:
        counts.skipped = "atheris is not installed; `make fuzz` installs it"
        return counts
    most = max(_WORKERS, int(deadline.left * _WORKERS / _LEAST))
    if most < len(targets):  # rather a few of them than none properly
        targets = tuple(random.sample(targets, most))
    share = deadline.left * _WORKERS / len(targets)
    with ThreadPoolExecutor(_WORKERS) as pool:
        for one in pool.map(lambda name: fuzzed(name, corpus / name, share), targets):
            counts.cases += one.runs
            counts.survivors += one.runs - (one.found is not None)
            if one.found is not None:
                counts.problems.append(f"{one.target}: {one.found}: {one.told}")
    counts.seconds = time.monotonic() - began
    return counts


def fuzzed(target: str, corpus: Path, seconds: float) -> Fuzzed:
    corpus.mkdir(parents=True, exist_ok=True)
    for data in seeds.of(target):
        (corpus / sha256(data).hexdigest()[:16]).write_bytes(data)
    found = corpus.with_name(f"{target}-found")
    shutil.rmtree(found, ignore_errors=True)
    found.mkdir()
    words = [
        f"-max_total_time={max(1, int(seconds))}",
        f"-max_len={_LONGEST}",
        f"-timeout={_SLOWEST}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
        f"-dict={Path(__file__).with_name('words.dict')}",
        "-rss_limit_mb=4096",
        str(corpus),
    ]
    path = os.pathsep.join(filter(None, (str(seeds.ROOT), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory(prefix="aot-fuzz-") as scratch:  # a fuzzer does not tidy up
        done = subprocess.run(
            [sys.executable, "-m", "faults.fuzzing.one", target, *words],
            cwd=seeds.ROOT,
            env={**os.environ, "PYTHONPATH": path, "TMPDIR": scratch},
            capture_output=True,
            check=False,
        )
    runs = _RUNS.search(done.stderr)
    kept = [_kept(target, path) for path in sorted(found.iterdir())]
    told = _last_words(done.stdout + done.stderr)
    if done.returncode and not kept:
        raise RuntimeError(f"{target} cannot be fuzzed: {done.stderr.decode(errors='replace')[-2000:]}")
    return Fuzzed(target, int(runs[1]) if runs is not None else 0, kept[0] if kept else None, told)


def _kept(target: str, path: Path) -> Path:
    folder = seeds.CASES / target
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(path, folder / path.name.rpartition("-")[2][:16]))


def _last_words(output: bytes) -> str:
    """Of the exception."""
    lines = output.decode("utf-8", "replace").splitlines()
    error = [line for line in lines if re.match(r"\w+(\.\w+)*(Error|Exception)\b|AssertionError", line)]
    return error[-1][:300] if error else ""
