"""`python -m faults.fuzzing [--minutes M] [TARGET …]`: fuzzes each target for its share of the time, with atheris.

What makes a target raise is kept in tests/faults/cases/TARGET/, where the tests replay it. Exits 1 if there was any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from faults.counts import Deadline, table
from faults.fuzzing.driving import campaign
from faults.fuzzing.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} [all]")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all of them together [5]")
    parser.add_argument("--corpus", type=Path, default=None, help="a folder in which what was learned is kept")
    given = parser.parse_args()
    if unknown := [name for name in given.targets if name not in TARGETS]:
        parser.error(f"there is no target {unknown[0]!r}")
    with tempfile.TemporaryDirectory(prefix="aot-fuzz-") as folder:
        corpus = given.corpus or Path(folder)
        counts = campaign(corpus, Deadline(60 * given.minutes), tuple(given.targets) or tuple(TARGETS))
    print(table([counts]))
    return 1 if counts.is_broken else 2 if counts.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
