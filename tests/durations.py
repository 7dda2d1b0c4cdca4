"""What tests usually take: kept for each file in durations.json, so that a run can be estimated and ordered.

`make test-times` measures all of them again: `python -m tests.durations TIMES` tells the slowest tests and the sum for
each folder, and writes the file anew. Old figures make an estimate worse, nothing else.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

KEPT = Path(__file__).with_name("durations.json")
UNKNOWN = 0.05
"""Seconds, of a test in a file that was never measured."""
SLOWEST = 30


class Durations:
    """Seconds that a test takes, on average over its file."""

    def __init__(self, kept: Mapping[str, float]) -> None:
        self._kept = kept

    @classmethod
    def load(cls) -> Durations:
        return cls(json.loads(KEPT.read_text()) if KEPT.exists() else {})

    def of(self, test: str) -> float:
        return self._kept.get(test.partition("::")[0], UNKNOWN)


def main(measured: Path) -> None:
    seconds: dict[str, float] = json.loads(measured.read_text())
    folders: defaultdict[str, float] = defaultdict(float)
    files: defaultdict[str, list[float]] = defaultdict(list)
    for test, taken in seconds.items():
        file = test.partition("::")[0]
        folders[Path(file).parts[1]] += taken
        files[file].append(taken)
    sys.stdout.write(f"The {SLOWEST} slowest of {len(seconds):,} tests, in seconds:\n")
    for test in sorted(seconds, key=lambda one: -seconds[one])[:SLOWEST]:
        sys.stdout.write(f"{seconds[test]:7.1f}  {test}\n")
    sys.stdout.write("The sum for each folder:\n")
    for folder in sorted(folders, key=lambda one: -folders[one]):
        sys.stdout.write(f"{folders[folder]:7.1f}  tests/{folder}\n")
    means = {file: round(sum(taken) / len(taken), 3) for file, taken in sorted(files.items())}
    KEPT.write_text(json.dumps(means, indent=0) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
