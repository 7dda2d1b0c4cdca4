"""`python -m faults.fuzzing.one TARGET [libFuzzer's words …]`: one target, until something is found or time is up."""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    name, *words = sys.argv[1:]
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=["aotloop"]):
        targets = import_module("faults.fuzzing.targets")
    atheris.Setup([sys.argv[0], *words], targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
