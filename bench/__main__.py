"""Prints the table: `make bench`."""

from __future__ import annotations

import platform
import sys

from bench import (
    events,
    fence,
    growth,
    hooks,
    interrupting,
    isolation,
    loading,
    overhead,
    page,
    scheduling,
    sizes,
    starting,
    updating,
    whole_run,
)


def main() -> None:
    print(f"Python {platform.python_version()} on {platform.machine()}, milliseconds")
    print(f"{'':<58} {'ours':>9} {'other':>9}  {'ratio':>6}")
    for group in (
        loading,
        updating,
        starting,
        hooks,
        events,
        whole_run,
        scheduling,
        isolation,
        fence,
        overhead,
        page,
        interrupting,
        growth,
        sizes,
    ):
        for row in group.rows():
            print(row.line())
            sys.stdout.flush()


if __name__ == "__main__":
    main()
