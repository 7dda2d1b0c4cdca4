"""Events of a feature that is shipped, for the observers of its run. They are written like `execution.run_events`."""

from __future__ import annotations

from aotloop.execution.run_events import RunEvent


class ShipBegan(RunEvent, frozen=True, kw_only=True, tag="ship_began"):
    """A feature begins, or continues, in this phase."""

    run_id: str
    pid: int
    feature: str
    phase: str
    branch: str | None = None


class PhaseEntered(RunEvent, frozen=True, kw_only=True, tag="phase_entered"):
    """`forced`: why the phase before was left without being completed."""

    phase: str
    forced: str | None = None


class ReceiptJudged(RunEvent, frozen=True, kw_only=True, tag="receipt"):
    """A claim about a phase was checked; `reasons`: why it does not count."""

    phase: str
    artifact: str
    commit: str | None = None
    accepted: bool
    reasons: tuple[str, ...] = ()
    tests: str = ""


class TurnEnded(RunEvent, frozen=True, kw_only=True, tag="turn"):
    """An agent's turn is over, and the phase is not. `turn` counts up to the most turns in this phase."""

    phase: str
    turn: int
    most: int


class ShipEnded(RunEvent, frozen=True, kw_only=True, tag="ship_ended"):
    """`status`: completed, waiting (for a person's approval), stopped, cancelled, running (interrupted)."""

    status: str
    phase: str
    reason: str | None = None
    seconds: float = 0.0
    cost_usd: float = 0.0
    forced_phases: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
