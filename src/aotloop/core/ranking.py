"""The ready atoms, best first: entering, leaving and taking the next one cost O(log n), and nothing is ever sorted.

Who leaves is not looked for in the heap: an entry whose rank is no longer the atom's rank is dropped when it comes up.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from aotloop.core.graph import Rank

SLACK = 32
"""Outdated entries that are not worth tidying up."""


class Ranking:
    def __init__(self) -> None:
        self._ranks: dict[str, Rank] = {}
        self._heap: list[tuple[Rank, str]] = []
        self._taken: dict[str, Rank] = {}
        self._reader: object = None

    def place(self, atom_id: str, rank: Rank) -> None:
        if self._ranks.get(atom_id) == rank:
            return
        self._ranks[atom_id] = rank
        heappush(self._heap, (rank, atom_id))
        if len(self._heap) > 2 * len(self._ranks) + SLACK:
            self._tidy()

    def remove(self, atom_id: str) -> None:
        self._ranks.pop(atom_id, None)

    def in_order(self) -> list[str]:
        return sorted(self._ranks, key=self._ranks.__getitem__)

    def best_but(self, given: set[str], reader: object) -> str | None:
        """The best that was not given yet. What one reader took off the heap comes back for the next reader."""
        if self._reader is not reader:
            self._reader = reader
            self._put_back()
        while self._heap:
            rank, atom_id = heappop(self._heap)
            if self._ranks.get(atom_id) != rank:
                continue
            self._taken[atom_id] = rank
            if atom_id not in given:
                return atom_id
        return None

    def _put_back(self) -> None:
        for atom_id, rank in self._taken.items():
            heappush(self._heap, (rank, atom_id))
        self._taken.clear()

    def _tidy(self) -> None:
        """Pays for itself: as many entries became outdated since the last time as are looked at now."""
        self._taken.clear()
        self._heap = [(rank, atom_id) for atom_id, rank in self._ranks.items()]
        heapify(self._heap)
