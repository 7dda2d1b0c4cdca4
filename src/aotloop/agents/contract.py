"""What every backend fulfils: one assignment in, one outcome out, and nothing left running after either.

An outcome says how an attempt ended, and never more than the attempt showed. Whether a claim of success is true is
decided elsewhere, by checks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from aotloop.agents.confinement import Confinement
from aotloop.agents.plans import PlannerResult
from aotloop.agents.presence import Presence
from aotloop.agents.results import Score
from aotloop.agents.roles import Role
from aotloop.core.events import Child
from aotloop.core.model import Binding

# --- what is asked -----------------------------------------------------------------------------------------------


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds; None: no limit."""

    start_up: float | None = None
    """Until anything at all is printed."""
    inactivity: float | None = None
    """Between two signs of life."""
    total: float | None = None


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Of a whole attempt, sub-agents included where the client counts them. What is read from a cache is no input."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A client's conversation that can go on. Counts are those of the whole conversation, as the client keeps them."""

    id: str
    tokens: Tokens | None = None
    cost_usd: float | None = None
    turns: int | None = None


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """What lets one conversation take several attempts, one after another, each in a process of its own."""

    store: Path
    """A folder of ours, outside `cwd` and closed to agents: what is in it outlives the attempt."""
    session: Session | None = None
    """The conversation to go on with, which is in the store; None: a new one."""


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    atom: str
    attempt: int
    run_id: str
    epoch: int
    cwd: Path
    state_file: Path
    scratch: Path
    """A folder of this attempt alone, outside `cwd`; see aotloop.agents.scratch for what lies in it."""
    prompt: str = ""
    command: str | None = None
    """Of an atom with `run`: what a shell does instead of an agent."""
    bindings: dict[str, Binding] = {}
    """Results it builds on."""
    env: dict[str, str] = {}
    """Variables besides those that every agent gets."""
    limits: Limits = Limits()
    grace: float = 0.5
    """Seconds between SIGTERM and SIGKILL, whenever it has to be ended."""
    result_schema: dict[str, Any] = {}
    max_cost_usd: float | None = None
    """What this attempt may cost at most, where the client can be told."""
    confinement: Confinement | None = None
    """What nobody who works on it may change, enforced where the machine can; None: nothing is."""
    sitting: Sitting | None = None
    """Only for backends whose `sessions` are native; None: no conversation outlives the attempt."""


# --- what comes of it --------------------------------------------------------------------------------------------


Cause = Literal["rate_limit", "overload", "quota", "auth", "refusal", "outage", "too_long", "budget", "no_session"]
"""Why a service did not do its part, where the client tells; `no_session`: it does not know the one to go on with."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    seconds: float = 0.0
    cost_usd: float | None = None
    """None: the backend cannot tell."""
    tokens: Tokens | None = None
    turns: int | None = None
    start: float | None = None
    """Seconds until it first changed a file; None: the backend cannot tell, or it changed none."""
    session: Session | None = None
    """Of an assignment with a sitting: the conversation that can go on."""
    cause: Cause | None = None
    output: str = ""
    """The last of what it printed."""
    notes: tuple[str, ...] = ()
    """What was left out or put right on the way, in words."""


class Done(Ended, frozen=True, kw_only=True, tag="done"):
    """A worker claims success."""

    summary: str
    artifacts: tuple[str, ...] = ()


class Proposed(Ended, frozen=True, kw_only=True, tag="proposed"):
    """A worker would rather have its atom split."""

    children: tuple[Child, ...]
    reason: str


class Probed(Ended, frozen=True, kw_only=True, tag="probed"):
    feasible: bool
    findings: str
    estimate: float | None = None
    """Minutes."""
    children: tuple[Child, ...] = ()


class Judged(Ended, frozen=True, kw_only=True, tag="judged"):
    """What a verifier found."""

    passed: bool
    evidence: str
    failures: tuple[str, ...] = ()


class Scored(Ended, frozen=True, kw_only=True, tag="scored"):
    """What a judge found; each of the scores is from 1 to 5, whether they are enough is computed elsewhere."""

    scores: tuple[Score, ...]


class Planned(Ended, frozen=True, kw_only=True, tag="planned"):
    """What a planner asks or proposes."""

    answer: PlannerResult


class MustWait(Ended, frozen=True, kw_only=True, tag="must_wait"):
    """It could not be tried now (a rate limit, say); nothing failed."""

    reason: str
    retry_after: float | None = None
    """Seconds, if they were told."""


class Failure(Ended, frozen=True, kw_only=True):
    reason: str
    taught: bool = False
    """The reason says something about the work, not only about the agent."""


class Failed(Failure, frozen=True, kw_only=True, tag="failed"):
    """It says itself that it is not done."""

    because_of: tuple[str, ...] = ()
    """Atoms whose results are in its way, as the agent sees it."""
    wants_probe: bool = False
    """The agent asks for a probe before the next attempt."""
    is_void: bool = False
    """It changed what is not its own: nothing that it left is gone on with."""


class Garbage(Failure, frozen=True, kw_only=True, tag="garbage"):
    """It ended, and its answer is none."""


class TimedOut(Failure, frozen=True, kw_only=True, tag="timed_out"):
    pass


class Crashed(Failure, frozen=True, kw_only=True, tag="crashed"):
    """It did not end the way such a program ends."""


Outcome = Done | Proposed | Probed | Judged | Scored | Planned | MustWait | Failed | Garbage | TimedOut | Crashed

# --- who does it -------------------------------------------------------------------------------------------------

Support = Literal["native", "emulated", "missing"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    structured_output: Support = "missing"
    tool_restriction: Support = "missing"
    cost_report: Support = "missing"
    sessions: Support = "missing"
    """Whether a conversation can go on with another attempt (`Assignment.sitting`)."""
    interrupt: Support = "missing"


class Backend(Protocol):
    """tests/agents/conformance.py is this in executable form; every backend passes it."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def look(self) -> Presence:
        """Whether it can be used here, as far as that can be told without starting anything. Never raises."""
        ...

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        """Makes the attempt; lines of output are handed on as they come, in the thread of the event loop.

        When this returns or raises, every process of the attempt is dead, daemons included. Cancelling it kills them
        (SIGTERM, `grace` seconds, SIGKILL) before CancelledError goes on; cancelling once more ends the grace.
        Raises AotError only where no attempt could be made at all and the atom is not to blame: a program that is not
        installed, a folder that is not there.
        """
        ...
