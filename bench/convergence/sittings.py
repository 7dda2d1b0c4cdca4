"""Sittings: an agent that succeeded goes on with the next atom without a new start, up to a number of parts."""

from __future__ import annotations

from aotloop.core.scheduler.run_state import Run


class Sittings:
    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._under_way: dict[int, int] = {}
        """By attempt, parts that its agent has worked at since its start, those of the attempt included."""
        self._free: list[int] = []

    def take(self, attempt: int, run: Run) -> tuple[int, bool]:
        """Parts that the agent has worked at before, and whether it is a fresh one."""
        for number in [one for one in self._under_way if one not in run.attempts]:
            self._free.append(self._under_way.pop(number))
        self._free = [one for one in self._free if one < self._longest][-run.limits.max_parallel_agents :]
        before = self._free.pop() if self._free else 0
        self._under_way[attempt] = before
        return before, not before

    def leave(self, attempt: int, parts: int, *, goes_on: bool) -> None:
        """Not `goes_on`: it failed, or a fresh agent is wanted for another reason."""
        if goes_on:
            self._under_way[attempt] += parts
        else:
            del self._under_way[attempt]
