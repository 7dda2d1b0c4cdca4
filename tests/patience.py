"""Only here do tests look at a clock: they wait for conditions, and only a test that fails uses up the patience."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds. However busy the machine is, whatever a test waits for has come by then, or never comes."""

FOREVER = 3600
"""Seconds that something hangs: longer than any patience, so that no test passes because it ended by itself."""

LIMITS = (0.3, 2.0, 15.0, PATIENCE)
"""Time-outs, one of which is enough: see `with_time_enough`."""

_TICK = 0.01


def until(condition: Callable[[], T | None], why: str | Callable[[], str] = "it never came to that") -> T:
    """What the condition returns, once that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, why() if callable(why) else why
        time.sleep(_TICK)
    return found


async def reached(condition: Callable[[], T | None], why: str = "it never came to that") -> T:
    """As `until`, for an event loop that has more to do."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, why
        await asyncio.sleep(_TICK)
    return found


def give_way(seconds: float = 0.005) -> None:
    """Lets others do what they must not do, and so be caught. Its length makes a test stronger or weaker, never red."""
    time.sleep(seconds)


def written(file: Path) -> str:
    """The text of a file, once its last line is complete."""
    return until(lambda: _whole(file), f"{file.name} was never written")


def with_time_enough(
    run: Callable[[float], T], was_enough: Callable[[T], object], limits: tuple[float, ...] = LIMITS
) -> T:
    """What comes of something with a time-out; with a longer one, where time was up before it came to the point.

    A short time-out makes a quick test, but no promise that a busy machine gets anything done in it.
    """
    for limit in limits:
        outcome = run(limit)
        if was_enough(outcome):
            return outcome
    raise AssertionError("no time was enough")


def shell_until(test: str) -> str:
    """A command for a shell: waits until this one succeeds, and fails in the end. It does not outlive a lost test."""
    enough = f"test $((waited += 1)) -gt {PATIENCE / 0.02:.0f}"
    return f"{{ waited=0; until {test}; do {enough} && break; sleep 0.02; done; {test}; }}"


def shell_until_there(path: Path | str) -> str:
    return shell_until(f"test -e {path}")


def _whole(file: Path) -> str | None:
    try:
        text = file.read_text()
    except FileNotFoundError:
        return None
    return text if text.endswith("\n") else None
