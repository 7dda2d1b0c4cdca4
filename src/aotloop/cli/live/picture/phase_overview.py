"""Shows the phases of a feature as rows of a view, in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from aotloop.app.diagram.diagram import Look
from aotloop.cli.live.picture.atom_rows import Row
from aotloop.core.model import Used
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.core.phases.phase_progress import PhaseState, expected_phases, state_of
from aotloop.core.phases.receipts import RECEIPTS
from aotloop.execution.observer import Watched

_LOOKS: dict[PhaseState, Look] = {
    "done": "resolved",
    "forced": "resolved",
    "skipped": "resolved",
    "now": "in_progress",
    "": "waiting",
}


class PhaseOverview:
    def __init__(self, loop: PhaseLoop) -> None:
        self._take(loop)

    def _take(self, loop: PhaseLoop) -> None:
        self._loop = loop
        self._phases: dict[str, Phase] = {phase: phase for phase in expected_phases(loop)}
        self.rows = [Row(phase, 0, -1) for phase in self._phases]
        self.row_of = {phase: number for number, phase in enumerate(self._phases)}
        self.looks: list[Look | None] = [_LOOKS[state_of(loop, phase)] for phase in self._phases.values()]
        self.counts: Counter[Look | None] = Counter(self.looks)
        self.ready: list[str] = []
        self.required = len(self._phases)
        self.resolved = self.counts["resolved"]

    @property
    def goal(self) -> str:
        return self._loop.feature

    @property
    def status(self) -> str:
        return self._loop.status

    @property
    def stop_reason(self) -> str | None:
        return None  # `aot ship` prints it after the view is closed

    @property
    def cost_usd(self) -> float:
        return self._loop.spent_usd

    @property
    def used(self) -> Used:
        return Used()

    def follow(self, loop: Watched) -> bool:
        if not isinstance(loop, PhaseLoop):
            return False
        self._take(loop)
        return True

    def end_generation(self, iteration: int, stall_count: int) -> None:
        """Phases have no generations."""

    def counted_as(self, width: int) -> str:
        return " phases done" if width >= 48 else ""

    def counters(self, overriding: Mapping[str, int | float | str]) -> tuple[str, ...]:  # noqa: ARG002
        return (f"turn {self._loop.global_iteration:,} of {self._loop.max_iterations:,}",)

    def most_usd(self, overriding: Mapping[str, int | float | str]) -> float | None:  # noqa: ARG002
        return self._loop.budget_limit_usd

    def runtime(self, overriding: Mapping[str, int | float | str]) -> tuple[float, str] | None:  # noqa: ARG002
        return None

    def bound(self, overriding: Mapping[str, int | float | str]) -> int | None:  # noqa: ARG002
        return None

    # --- about one row -------------------------------------------------------------------------------------------

    def description(self, name: str) -> str | None:
        phase = self._phases[name]
        by_force = "left by force: " if state_of(self._loop, phase) == "forced" else ""
        return f"{by_force}{RECEIPTS[phase].artifact}"

    def heading(self, name: str) -> str:  # noqa: ARG002 - phases have no groups
        return ""

    def pointer(self, name: str) -> bool | None:  # noqa: ARG002
        return None

    def failures(self, name: str) -> int:
        """Turns of this phase that ended without an accepted receipt."""
        return self._loop.phase_iteration if name == self._loop.phase else 0

    def failures_in_words(self, name: str) -> str:
        failures = self.failures(name)
        return "" if not failures else "failed once" if failures == 1 else f"failed {failures} times"

    def waits_for(self, name: str) -> tuple[str, ...]:
        before = self.row_of[name] - 1
        return (self.rows[before].name,) if before >= 0 and self.looks[before] != "resolved" else ()

    def parts(self, name: str) -> tuple[int, int]:  # noqa: ARG002 - no phase is decomposed
        return 0, 0
