"""Luck: the actions of agents by chance, with the same draws for every policy.

The n-th draw of one kind about one thing depends only on the seed. So the n-th attempt at a part has the same result
for all policies, and an agent with a greater chance succeeds in every case in which one with a smaller chance does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from random import Random
from typing import Literal

import msgspec

from bench.convergence.jobs import Part

Kind = Literal["part", "claim", "insight", "hint", "probe", "way", "check", "trap"]


class Traits(msgspec.Struct, frozen=True, kw_only=True):
    """What the agents of a campaign are like, and its checks."""

    chance: float
    """Of an attempt at a part that can be done, and of any insight."""
    spread: float | None = None
    """None: all ways are equally difficult. Else the chance of each way is drawn from a Beta distribution with the mean
    `chance`, and this is the sum of its two parameters: the smaller, the more ways nearly always or never succeed.
    """
    false: float = 0.2
    """Of those that did not succeed, so many say that they did."""
    wear: float = 0.0
    """So much smaller is the chance of each further part that an agent works at without a fresh start."""
    stubborn: float = 0.0
    """So many of those that have no reason for a way take the one that comes first to mind."""
    learning: float = 0.0
    """Each failure at a part takes away this share of what its chance lacks to certainty."""
    misleading: float = 0.0
    """So many of those that fail blame an earlier way that is not in their way."""
    traps: float = 0.0
    """How often the files of a failed attempt lead nowhere: an agent that continues from them never succeeds."""
    flaky: float = 0.0
    """So many checks fail that should pass."""
    blind: float = 0.0
    """So many checks pass that should fail."""


class Luck:
    def __init__(self, seed: str, traits: Traits) -> None:
        self._traits = traits
        self._seed = seed.encode()
        self._drawn: Counter[tuple[Kind, tuple[int, ...]]] = Counter()
        self._chances: dict[tuple[int, int], float] = {}

    def draw(self, kind: Kind, *about: int) -> float:
        """From 0 up to 1."""
        key = (kind, about)
        self._drawn[key] += 1
        name = f"{kind} {about} {self._drawn[key]}".encode()
        return int.from_bytes(blake2b(name, key=self._seed[:64], digest_size=6).digest()) / 2**48

    def successes(self, parts: Iterable[Part], *, before: int = 0) -> list[bool]:
        """`before`: parts that the agent has worked at since its start."""
        wear = self._traits.wear
        return [self._succeeds(part, (1 - wear) ** number) for number, part in enumerate(parts, start=before)]

    def _succeeds(self, part: Part, freshness: float) -> bool:
        failures = self._drawn["part", part]
        lacking = (1 - self.chance_of(*part[:2])) * (1 - self._traits.learning) ** failures
        return self.draw("part", *part) < (1 - lacking) * freshness

    def chance_of(self, unit: int, way: int) -> float:
        traits = self._traits
        if traits.spread is None:
            return traits.chance
        if (unit, way) not in self._chances:
            random = Random(f"{self._seed!r} {unit} {way} {traits.chance} {traits.spread}")
            drawn = random.betavariate(traits.chance * traits.spread, (1 - traits.chance) * traits.spread)
            self._chances[unit, way] = drawn
        return self._chances[unit, way]

    def evidence(self, missing: Iterable[Part]) -> str:
        """The text of a failing check. Failures at the same parts have the same text: the worst case for a reader."""
        return f"missing: {', '.join(str(part[2]) for part in missing)}"

    def claims(self, unit: int) -> bool:
        """Whether an agent says "done" though it is not."""
        return self.draw("claim", unit) < self._traits.false

    def understands(self, unit: int) -> bool:
        """Whether an agent that failed sees why: that an earlier way is in its way."""
        return self.draw("insight", unit) < self._traits.chance

    def misleads(self, unit: int) -> bool:
        """Whether an agent that failed blames an earlier way without reason."""
        return self._traits.misleading > 0 and self.draw("hint", unit) < self._traits.misleading

    def traps(self, unit: int, way: int) -> bool:
        return self._traits.traps > 0 and self.draw("trap", unit, way) < self._traits.traps

    def passes(self, unit: int, *, truly: bool) -> bool:
        """What the check of a unit says."""
        error = self._traits.flaky if truly else self._traits.blind
        return truly if not error else truly != (self.draw("check", unit) < error)

    def judges(self, unit: int, way: int, *, possible: bool) -> bool:
        """Whether a probe takes this way for possible. One that finds out nothing mostly says nothing against it."""
        if self.draw("probe", unit, way) < self._traits.chance:
            return possible
        return not possible or self.draw("probe", unit, way) >= self._traits.false

    def way(self, unit: int, ways: int) -> int:
        """Which one an agent takes that has no reason for any."""
        drawn, stubborn = self.draw("way", unit), self._traits.stubborn
        return 0 if drawn < stubborn else int((drawn - stubborn) / (1 - stubborn) * ways)
