"""A fault: what it stands for in the machine, and the settings in which it is to be found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import msgspec

from prove.explore import Found, explore
from prove.shapes import Setting, Shape, shapes
from prove.worlds import explore_worlds

Patch = tuple[Any, str, Any]
LARGEST = 3
OWN_SLIPS = ("TypeError:", "AttributeError:", "NameError:", "ImportError:")
"""What a planted fault breaks in itself: no law has noticed anything then."""


class Fault(msgspec.Struct, frozen=True):
    paragraph: str
    name: str
    patches: tuple[Patch, ...]
    settings: tuple[Setting, ...]
    worlds: bool = False
    """Only visible in what the loop finds in the end, in a world whose outcomes are fixed. At most one setting."""

    largest: int = LARGEST
    """Atoms of the graphs in which it is looked for."""
    two_groups: bool = False
    """Only visible in a graph of four atoms with two groups."""
    with_groups: bool = False
    """Only visible where there are alternatives."""
    smallest: int = 1
    """Atoms of the smallest graph in which it is visible."""

    def shapes(self) -> Iterator[Shape]:
        """Where it is looked for, smallest first."""
        if self.worlds:
            every = (shape for size in range(max(2, self.smallest), 5) for shape in shapes(size))
            yield from (shape for shape in every if len(shape.groups) > self.two_groups and shape.parts is None)
        elif self.two_groups:
            yield from (shape for shape in shapes(4) if len(shape.groups) > 1)
        else:
            for size in range(self.smallest, self.largest + 1):
                yield from (shape for shape in shapes(size) if shape.groups or not self.with_groups)

    @contextmanager
    def planted(self) -> Iterator[None]:
        with ExitStack() as stack:
            for owner, attribute, mutant in self.patches:
                stack.enter_context(patch.object(owner, attribute, mutant))
            yield

    def find(self, *most_states: int) -> Found | None:
        """The first violation that it leads to, in searches of these sizes, one after the other."""
        with self.planted():
            found = next(self._violations(most_states), None)
        if found is not None and found.broken[0].startswith(OWN_SLIPS):
            raise AssertionError(f"the planted fault is broken itself: {found.broken[0]}")
        return found

    def _violations(self, most_states: tuple[int, ...]) -> Iterator[Found]:
        for shape in self.shapes() if self.worlds else ():
            yield from explore_worlds(shape, *self.settings).found
        for most in most_states if not self.worlds else ():
            for shape in self.shapes():
                for setting in self.settings:
                    yield from explore(shape, setting, most_states=most).found


def nothing(*_: Any, **__: Any) -> list[Any]:
    return []


def no(*_: Any, **__: Any) -> bool:
    return False


def yes(*_: Any, **__: Any) -> bool:
    return True


def none(*_: Any, **__: Any) -> None:
    return None


def handler(kind: Any, mutant: Any) -> Patch:
    """Another way to handle one kind of report or event."""
    from aotloop.core import machine  # noqa: PLC0415
    from aotloop.core.scheduler import decisions, reports  # noqa: PLC0415

    table = decisions if issubclass(kind, reports.Report) else machine
    return (table, "_HANDLERS", {**table._HANDLERS, kind: mutant})


PLAIN = Setting(slots=2, max_attempts=2, max_total=6, max_stall=3, max_iterations=6)
SINGLE = Setting()
LEARNING = Setting(is_experienced=False, max_attempts=2, max_total=6, max_stall=3, max_iterations=6)
PATIENT = Setting(patience=3, max_total=7, max_stall=9, max_iterations=9)
PEOPLE = Setting(slots=2, people=True)
RACE = Setting(slots=2, speculative=True)
PROBE = Setting(slots=2, probe=True, command=True)
TOUCHING = Setting(slots=2, touching=True)
HINDERED = Setting(slots=2, hindrances=True, max_total=3)
GROWING = Setting(proposals=True, max_iterations=5, max_stall=3)
CHECKED = Setting(slots=2, checked=True, patience=2)
EARLY = Setting(slots=2, items=2, verify_each_iteration=True, max_iterations=3)
HINTS = Setting(hints=True, hint=9.0, max_attempts=2, patience=4, max_total=6, max_stall=9, max_iterations=9)
TRUSTING = Setting(hints=True, max_attempts=2, patience=4, max_total=6, max_stall=9, max_iterations=9)
"""The first hint counts, unless every other choice was blamed."""
HOLDING = Setting(progress=True, patience=3, max_total=6, max_stall=9, max_iterations=9)
COVERED = Setting(items=2, covers=True, max_total=6, max_stall=9, max_iterations=9)
HOPELESS = Setting(hopeless=2, garbage=True, max_total=6, max_stall=9, max_iterations=9)
ASKING = Setting(asks=True)
PAYING = Setting(probes_pay=True)
