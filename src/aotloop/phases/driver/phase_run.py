"""The context of a phase loop's run, and the names by which a later run recognizes its files."""

from __future__ import annotations

import calendar
import os
import time
from collections.abc import Callable
from hashlib import sha256

import msgspec

from aotloop.core.phases.model import PhaseLoop, ShipSettings
from aotloop.execution.agent_pool import AgentPool
from aotloop.execution.attempts.attempt import Attempts
from aotloop.execution.integration.branch import Branch
from aotloop.execution.journals.journal import Journal
from aotloop.execution.run_events import RunEvent
from aotloop.phases.project import Project


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Values that are the same for all turns of a run."""

    settings: ShipSettings
    run_id: str
    most_for_one: float | None = None
    """USD that one turn may cost; None: no limit."""
    prefix: str = ""
    """The path from the repository's top to the project."""


class DriverContext(msgspec.Struct, frozen=True, kw_only=True):
    project: Project
    terms: Terms
    branch: Branch
    agent_pool: AgentPool
    journal: Journal
    attempts: Attempts
    tell: Callable[[RunEvent], None]


def run_id_of(loop: PhaseLoop, path: str) -> str:
    """Stays the same as long as the loop lives. The next loop of the same file has another one."""
    named = f"{loop.started_at}\0{os.path.realpath(path)}\0{loop.feature}"
    return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def epoch_of(loop: PhaseLoop) -> int:
    """Number of this stay in the phase: a later stay does not take up unfinished work of an earlier one."""
    try:
        return calendar.timegm(time.strptime((loop.phase_started_at or loop.started_at)[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return 0
