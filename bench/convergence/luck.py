"""What agents do, by chance: the same draws for every policy, however many others it makes in between.

The n-th draw of one kind about one thing depends on nothing but the seed; so the n-th attempt at a part comes out alike
for all policies, and an agent with a greater chance succeeds wherever one with a smaller chance does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal

from bench.convergence.jobs import Part

FALSE = 0.2
"""Of those who did not succeed, so many say that they did."""
WEAR = 0.0
"""So much smaller is the chance of each further part that an agent works at without a fresh start."""
STUBBORN = 0.0
"""So many of those who have no reason for a way take the one that comes first to mind."""

Kind = Literal["part", "claim", "insight", "probe", "way"]


class Luck:
    def __init__(
        self, seed: str, chance: float, false: float = FALSE, wear: float = WEAR, stubborn: float = STUBBORN
    ) -> None:
        """`chance`: of an attempt at a part that can be done, and of any insight."""
        self._chance, self._false, self._wear, self._stubborn = chance, false, wear, stubborn
        self._seed = seed.encode()
        self._drawn: Counter[tuple[Kind, tuple[int, ...]]] = Counter()

    def draw(self, kind: Kind, *about: int) -> float:
        """From 0 up to 1."""
        key = (kind, about)
        self._drawn[key] += 1
        name = f"{kind} {about} {self._drawn[key]}".encode()
        return int.from_bytes(blake2b(name, key=self._seed[:64], digest_size=6).digest()) / 2**48

    def successes(self, parts: Iterable[Part], *, before: int = 0) -> list[bool]:
        """`before`: parts that the agent has worked at since its start."""
        return [
            self.draw("part", *part) < self._chance * (1 - self._wear) ** number
            for number, part in enumerate(parts, start=before)
        ]

    def claims(self, unit: int) -> bool:
        """Whether an agent says "done" though it is not."""
        return self.draw("claim", unit) < self._false

    def understands(self, unit: int) -> bool:
        """Whether an agent that failed sees why: that the unit is too large, or that another one is in its way."""
        return self.draw("insight", unit) < self._chance

    def judges(self, unit: int, way: int, *, possible: bool) -> bool:
        """Whether a probe takes this way for possible. One that finds out nothing mostly says nothing against it."""
        if self.draw("probe", unit, way) < self._chance:
            return possible
        return not possible or self.draw("probe", unit, way) >= self._false

    def way(self, unit: int, ways: int) -> int:
        """Which one an agent takes that has no reason for any."""
        drawn = self.draw("way", unit)
        return 0 if drawn < self._stubborn else int((drawn - self._stubborn) / (1 - self._stubborn) * ways)
