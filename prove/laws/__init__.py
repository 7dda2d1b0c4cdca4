"""Laws of every step. A law is a function that yields violations; its name says what should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prove.laws import converging, ending, failing, judging, keeping, starting, turns
from prove.step import Step

Law = Callable[[Step], Iterator[str]]

LAWS: tuple[Law, ...] = (
    *keeping.LAWS,
    *starting.LAWS,
    *judging.LAWS,
    *failing.LAWS,
    *turns.LAWS,
    *converging.LAWS,
    *ending.LAWS,
)


def violations(step: Step) -> list[str]:
    return [f"{law.__name__.replace('_', ' ')}: {broken}" for law in LAWS for broken in law(step)]
