"""The queue of ready atoms, best first. Adding, removing and taking the next atom cost O(log n); nothing is sorted.

A removed atom is not searched in the heap. An entry with an outdated rank is dropped when it reaches the top.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify, heappop, heappush

from aotloop.core.graph.work_graph import Graph, Rank

SLACK = 32
"""This many outdated entries are not worth a cleanup."""


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
        """The best atom that was not given yet. Entries that one reader took come back for the next reader."""
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
        """The cost is covered: as many entries became outdated since the last cleanup as this one examines."""
        self._taken.clear()
        self._heap = [(rank, atom_id) for atom_id, rank in self._ranks.items()]
        heapify(self._heap)


NONE = float("-inf")
"""The path of an atom that is not required and therefore does not count."""

PATH_SLACK = 100


class Paths:
    """Keeps `graph.remaining_path` up to date, in place."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._longest = graph.remaining_path
        self._before: dict[str, float] = {}
        """For atoms whose dependencies are not updated yet: the longest path that those dependencies may have used."""
        self._queue: deque[str] = deque()
        self.changed: set[str] = set()

    def reckon(self, atom_id: str) -> None:
        """Computes the path of an atom, the first time or after a change of its estimate."""
        self._set(atom_id, self._graph.path_before(atom_id, self._longest))

    def tell(self, atom_id: str, before: float = NONE) -> None:
        """Passes a change on to the atoms it needs: it needs more atoms, or it became required or not required."""
        if atom_id not in self._before:
            self._queue.append(atom_id)
        self._before[atom_id] = max(before, self._before.get(atom_id, NONE))

    def of(self, atom_id: str) -> float:
        return self._longest.get(atom_id, NONE)

    def settle(self) -> bool:
        """Whether all updates needed fewer steps than computing all paths again. On a cycle they would not."""
        steps_left = len(self._longest) + PATH_SLACK
        while self._queue:
            if not steps_left:
                return False
            steps_left -= 1
            atom_id = self._queue.popleft()
            before = self._before.pop(atom_id)
            after = self.of(atom_id) if atom_id in self._graph.required else NONE
            for member in self._graph.needed_units(atom_id):
                if member in self._longest:
                    self._follow(member, before, after)
        return True

    def _follow(self, atom_id: str, before: float, after: float) -> None:
        own, now = self._graph.own_estimate(atom_id), self._longest[atom_id]
        if own + after >= now:
            self._set(atom_id, own + after)
        elif own + before >= now:
            self.reckon(atom_id)

    def _set(self, atom_id: str, path: float) -> None:
        before = self.of(atom_id)
        if path == before:
            return
        self._longest[atom_id] = path
        self.changed.add(atom_id)
        if atom_id in self._graph.required:
            self.tell(atom_id, before)
