"""Remaining paths follow a change from consumers to what they need, and go no further than values change.

A longer path is taken over at once. Only where the path that became shorter was the longest are all consumers asked.
"""

from __future__ import annotations

from collections import deque

from aotloop.core.graph import Graph

NONE = float("-inf")
"""The path of an atom that does not count, because it is not required."""

SLACK = 100


class Paths:
    """Keeps `graph.remaining_path`, in place."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._longest = graph.remaining_path
        self._before: dict[str, float] = {}
        """Of atoms whose needs have not heard yet: the longest path they can have reckoned with."""
        self._queue: deque[str] = deque()
        self.changed: set[str] = set()

    def reckon(self, atom_id: str) -> None:
        """After a change of its estimate, or the first time."""
        self._set(atom_id, self._graph.path_before(atom_id, self._longest))

    def tell(self, atom_id: str, before: float = NONE) -> None:
        """What it needs has to hear of it: it needs more, or it became required or ceased to be."""
        if atom_id not in self._before:
            self._queue.append(atom_id)
        self._before[atom_id] = max(before, self._before.get(atom_id, NONE))

    def of(self, atom_id: str) -> float:
        return self._longest.get(atom_id, NONE)

    def settle(self) -> bool:
        """Whether it came to an end in fewer steps than computing all paths anew; it would not on a cycle."""
        steps_left = len(self._longest) + SLACK
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
