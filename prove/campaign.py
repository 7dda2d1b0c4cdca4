"""The campaign: the explored settings, for graphs of given sizes. This module states every omission.

Every shape up to the given size is combined with every setting of the list. The name of a setting says what may happen
in it; all of it at once would be too much even for three atoms, so each setting has its own kinds of trouble.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from prove.shapes import Setting, Shape, shapes
from prove.worlds import WORLDS

SETTINGS: dict[str, Setting] = {
    "one slot": Setting(max_attempts=2, max_total=6, max_stall=3, max_iterations=6),
    "two slots": Setting(slots=2, max_total=5, max_stall=3, max_iterations=6),
    "learning what is usual": Setting(slots=2, is_experienced=False, share=2, max_attempts=2, max_stall=3),
    "little patience": Setting(slots=2, max_stall=1, max_iterations=3),
    "hints": Setting(hints=True, hint=9.0, max_attempts=2, patience=3, max_total=6, max_stall=4, max_iterations=6),
    "hints that are trusted": Setting(
        hints=True, max_attempts=2, patience=3, max_total=6, max_stall=4, max_iterations=6
    ),
    "work that holds": Setting(progress=True, patience=3, max_attempts=2, max_stall=4, max_iterations=6),
    "hopeless": Setting(hopeless=2, garbage=True, max_total=6, max_stall=9, max_iterations=9),
    "stop and redirect": Setting(slots=2, people=True, max_total=4),
    "stop and redirect, patient": Setting(people=True, max_attempts=2, max_total=4, max_stall=3),
    "races": Setting(slots=2, speculative=True, max_stall=3, max_iterations=5),
    "races, stop and redirect": Setting(slots=2, speculative=True, people=True, max_total=4),
    "probes and a command": Setting(slots=2, probe=True, command=True, max_stall=3),
    "probes asked for, nonsense": Setting(probe=True, asks=True, garbage=True, max_total=4, max_iterations=6),
    "probes that pay": Setting(probes_pay=True, max_attempts=2, max_stall=3),
    "commands": Setting(slots=2, commands=True, max_total=6, max_stall=4, max_iterations=6),
    "conflicts, blocks, waits": Setting(slots=2, hindrances=True, max_total=3),
    "shared files": Setting(slots=2, touching=True, max_attempts=2, max_stall=3),
    "checked wholes": Setting(slots=2, checked=True, patience=2, max_total=6, max_stall=3, max_iterations=5),
    "checked wholes, learning": Setting(slots=2, checked=True, is_experienced=False, share=3, max_total=6, max_stall=3),
    "two items, tried early": Setting(slots=2, items=2, verify_each_iteration=True),
    "two items, tried early, checked": Setting(items=2, verify_each_iteration=True, checked=True, max_total=6),
    "items that are covered": Setting(slots=2, items=2, covers=True, max_total=6, max_stall=3, max_iterations=5),
    "decomposition": Setting(proposals=True, max_stall=3, max_iterations=5),
    "decomposition, two slots": Setting(proposals=True, slots=2, max_total=4, max_iterations=3),
    "decomposition, nonsense": Setting(proposals=True, garbage=True, max_attempts=2, max_total=4),
}

LARGEST = {"decomposition, two slots": 2, "decomposition, nonsense": 2}
"""Settings whose loops grow are explored for smaller graphs only; the deep campaign takes one atom more."""


WITH_FOUR = {"one slot", "two slots", "races", "commands"}
"""Settings in which every graph of four atoms is explored too, if it has no decomposition to begin with."""

WITH_TWO_GROUPS = {
    *(
        "learning what is usual",
        "little patience",
        "hints",
        "hints that are trusted",
        "work that holds",
        "stop and redirect, patient",
    ),
    *("probes and a command", "probes that pay", "shared files"),
}
"""In these, of those with four atoms only the ones with two groups; in the others, the deep campaign takes them."""


class Case(msgspec.Struct, frozen=True):
    name: str
    shape: Shape
    setting: Setting


def cases(*, deep: bool) -> Iterator[Case]:
    for name, setting in SETTINGS.items():
        largest = LARGEST.get(name, 3) + deep
        for size in range(1, largest + 1):
            for shape in shapes(size):
                if not (deep and size > 3 and shape.parts is not None):
                    yield Case(name, shape, setting)
        if not deep:
            for shape in shapes(4):
                is_wanted = name in WITH_FOUR or (len(shape.groups) > 1 and name in WITH_TWO_GROUPS)
                if is_wanted and shape.parts is None:
                    yield Case(name, shape, setting)


OF_FOUR = ("one after the other",)
"""Worlds in which every shape of four atoms is tried; in the others of three. The deep campaign takes four in more."""

WITH_TWO_GROUPS_OF_FOUR = ("with right hints",)
"""Worlds in which of four atoms those with two groups are tried."""

NEVER_OF_FOUR = ("with an end to hope",)
"""A unit is given up after two failures there. Of three ways, the third one may be the one that works."""


def world_cases(*, deep: bool) -> Iterator[tuple[Setting, Shape]]:
    """Every shape with alternatives."""
    for name, setting in WORLDS.items():
        for size in range(2, 5):
            least = _least_groups(name, size, deep=deep)
            yield from ((setting, shape) for shape in shapes(size) if least and len(shape.groups) >= least)


def _least_groups(name: str, size: int, *, deep: bool) -> int:
    """Of the shapes of this size; 0: none is tried."""
    if size < 4 or name in OF_FOUR or (deep and name not in NEVER_OF_FOUR):
        return 1
    return 2 if name in WITH_TWO_GROUPS_OF_FOUR else 0
