"""What a view of a run shows of its loop; each of the two kinds of loop has its own overview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from aotloop.app.diagram.diagram import Look
from aotloop.cli.live.picture.atom_overview import AtomOverview
from aotloop.cli.live.picture.atom_rows import Row
from aotloop.cli.live.picture.phase_overview import PhaseOverview
from aotloop.core.model import Used
from aotloop.core.phases.model import PhaseLoop
from aotloop.execution.observer import Watched

Overriding = Mapping[str, int | float | str]
"""Limits of this run only, by name."""


class Overview(Protocol):
    """Rows stand for atoms and groups, or for phases. Each row has a name."""

    rows: list[Row]
    row_of: dict[str, int]
    """The row of each atom or phase, by name."""
    looks: list[Look | None]
    """The look of each row; None: a heading."""
    counts: Counter[Look | None]
    ready: list[str]
    """Best first."""
    required: int
    resolved: int

    @property
    def goal(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def stop_reason(self) -> str | None:
        """None: the loop is not stopped, or the reason is shown elsewhere."""

    @property
    def cost_usd(self) -> float: ...

    @property
    def used(self) -> Used: ...

    def follow(self, loop: Watched) -> bool:
        """Takes the present loop. False: the work is a different one and needs a new overview."""

    def end_generation(self, iteration: int, stall_count: int) -> None: ...

    def counted_as(self, width: int) -> str:
        """What `resolved` and `required` count, in words that fit this width."""

    def counters(self, overriding: Overriding) -> Sequence[str]:
        """Counters and their limits, in words."""

    def most_usd(self, overriding: Overriding) -> float | None: ...

    def runtime(self, overriding: Overriding) -> tuple[float, str] | None:
        """Seconds used, and the limit; None: there is no limit."""

    def bound(self, overriding: Overriding) -> int | None:
        """Attempts that may still be made; None: unknown."""

    # --- about one row -------------------------------------------------------------------------------------------

    def description(self, name: str) -> str | None: ...

    def heading(self, name: str) -> str:
        """For a group: the number of its choices, and how they are tried."""

    def pointer(self, name: str) -> bool | None:
        """True for the selected choice of a group; None: it is in no group."""

    def failures(self, name: str) -> int: ...

    def failures_in_words(self, name: str) -> str: ...

    def waits_for(self, name: str) -> Sequence[str]: ...

    def parts(self, name: str) -> tuple[int, int]:
        """The number of finished parts, and of all parts."""


def overview_of(loop: Watched) -> Overview:
    return PhaseOverview(loop) if isinstance(loop, PhaseLoop) else AtomOverview(loop)
