"""Clocks that jump and lock holders that die: the short version of `python -m faults clocks holders`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from faults.shim import clock_environ

from faults import clocks, holders


def test_the_shim_moves_the_time_of_day_and_no_other_clock(library: Path) -> None:
    script = "import time; a = time.time(); b = time.time(); c = time.monotonic(); print(b - a, time.monotonic() - c)"
    environ = clock_environ(library, tuple(7200 * number for number in range(1000)))
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    wall, steady = map(float, done.stdout.split())
    assert 7199 < wall < 2 * 7200
    assert 0 <= steady < 7200


@pytest.mark.parametrize("name", ["years", "always later"])
def test_limits_leases_and_redirections_do_not_look_at_the_time_of_day(
    tmp_path: Path, library: Path, name: str
) -> None:
    assert clocks.endured(tmp_path / "run", clocks.JUMPS[name], library) == []


@pytest.mark.parametrize(
    ("what", "command", "waits"),
    [
        ("state", "atom add", True),
        ("state, half written", "atom add", False),
        ("run", "run", False),
        ("redirect", "redirect", False),
        ("integration", "run", True),
    ],
)
def test_who_waits_for_a_holder_that_is_killed_goes_on(tmp_path: Path, what: str, command: str, waits: bool) -> None:
    assert (what, command, waits) in set(holders.cases())
    assert holders.endured(tmp_path / "case", what, command, waits=waits) == []
