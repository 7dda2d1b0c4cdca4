"""The contract of every backend: one assignment in, one outcome out, and no process left running after either.

An outcome says how an attempt ended, and never more than the attempt showed. Checks decide elsewhere whether a claim of
success is true.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from aotloop.agents.answers.answer_schema import PlannerResult, Score
from aotloop.agents.client.detection import Presence
from aotloop.agents.roles import Role
from aotloop.core.checks.checklist import Node
from aotloop.core.events import Child
from aotloop.core.model import Binding
from aotloop.process.sandbox import Confinement
from aotloop.process.spec import Limits

# --- the assignment ------------------------------------------------------------------------------------------------


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of a whole attempt, with sub-agents where the client counts them. Tokens from a cache are no input."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A client's conversation that can go on. The counts are for the whole conversation, as the client keeps them."""

    id: str
    tokens: Tokens | None = None
    cost_usd: float | None = None
    turns: int | None = None


class Sitting(msgspec.Struct, frozen=True, kw_only=True):
    """Lets one conversation take several attempts, one after another, each in its own process."""

    store: Path
    """A folder of ours, outside `cwd` and closed to agents: its files outlive the attempt."""
    session: Session | None = None
    """The conversation to continue, which is in the store; None: a new one."""


class Meter:
    """What an attempt has used so far. It is for attempts that are ended before they can tell."""

    def __init__(self) -> None:
        self.tokens: Tokens | None = None
        self.cost_usd: float | None = None
        self.on_read: Callable[[], None] = lambda: None  # called whenever more was used

    def read(self, tokens: Tokens | None, cost_usd: float | None = None) -> None:
        if (tokens, cost_usd) != (self.tokens, self.cost_usd):
            self.tokens, self.cost_usd = tokens, cost_usd
            self.on_read()


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    atom: str
    attempt: int
    run_id: str
    epoch: int
    cwd: Path
    state_file: Path
    scratch: Path
    """A folder of this attempt alone, outside `cwd`, open to the agent: see `aotloop.agents.attempt.scratch`."""
    records: Path | None = None
    """Our own folder for this attempt, closed to the agent: prompt and transcript. None: they are in `scratch`."""
    prompt: str = ""
    command: str | None = None
    """For an atom with `run`: the command that a shell runs instead of an agent."""
    bindings: dict[str, Binding] = {}
    """Results on which it builds."""
    env: dict[str, str] = {}
    """Variables in addition to those that every agent gets."""
    limits: Limits = Limits()
    grace: float = 0.5
    """Seconds between SIGTERM and SIGKILL when the agent has to be ended."""
    result_schema: dict[str, Any] = {}
    check: Node | None = None
    """What decides the work afterwards; a person has accepted its commands."""
    touches: tuple[str, ...] = ()
    """Paths and globs that the work is planned to change."""
    max_cost_usd: float | None = None
    """The most that this attempt may cost, where the client has such an option."""
    confinement: Confinement | None = None
    """Files that no agent on this task may change, enforced where the machine can; None: no files."""
    meter: Meter | None = None
    """The backend notes here what the attempt uses, as soon as it knows."""
    sitting: Sitting | None = None
    """Only for backends whose `sessions` are native; None: no conversation outlives the attempt."""

    @property
    def evidence(self) -> Path:
        """The folder for the files that we write, and that no agent needs to change."""
        return self.records if self.records is not None else self.scratch


# --- the outcome ---------------------------------------------------------------------------------------------------


Cause = Literal["rate_limit", "overload", "quota", "auth", "refusal", "outage", "too_long", "budget", "no_session"]
"""Why a service failed, where the client reports it; `no_session`: it does not know the conversation to continue."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    seconds: float = 0.0
    cost_usd: float | None = None
    """None: the backend does not know."""
    tokens: Tokens | None = None
    turns: int | None = None
    start: float | None = None
    """Seconds until it first changed a file; None: the backend does not know, or the agent changed none."""
    session: Session | None = None
    """For an assignment with a sitting: the conversation that can go on."""
    cause: Cause | None = None
    output: str = ""
    """The end of its output."""
    notes: tuple[str, ...] = ()
    """What was left out or corrected on the way, in words."""


class Done(Ended, frozen=True, kw_only=True, tag="done"):
    """A worker claims success."""

    summary: str
    artifacts: tuple[str, ...] = ()


class Proposed(Ended, frozen=True, kw_only=True, tag="proposed"):
    """A worker proposes to split its atom."""

    children: tuple[Child, ...]
    reason: str


class Probed(Ended, frozen=True, kw_only=True, tag="probed"):
    feasible: bool
    findings: str
    estimate: float | None = None
    """Minutes."""
    children: tuple[Child, ...] = ()


class Judged(Ended, frozen=True, kw_only=True, tag="judged"):
    """The finding of a verifier."""

    passed: bool
    evidence: str
    failures: tuple[str, ...] = ()


class Scored(Ended, frozen=True, kw_only=True, tag="scored"):
    """The scores of a judge, each from 1 to 5; another module computes whether they are enough."""

    scores: tuple[Score, ...]


class Planned(Ended, frozen=True, kw_only=True, tag="planned"):
    """The questions or the proposal of a planner."""

    answer: PlannerResult


class MustWait(Ended, frozen=True, kw_only=True, tag="must_wait"):
    """The attempt was not possible now (a rate limit, say); nothing failed."""

    reason: str
    retry_after: float | None = None
    """Seconds, if the service reported them."""


class Failure(Ended, frozen=True, kw_only=True):
    reason: str
    taught: bool = False
    """The reason says something about the work, not only about the agent."""


class Failed(Failure, frozen=True, kw_only=True, tag="failed"):
    """The agent itself says that the work is not done."""

    because_of: tuple[str, ...] = ()
    """Atoms whose results block the work, in the agent's view."""
    wants_probe: bool = False
    """The agent asks for a probe before the next attempt."""
    is_void: bool = False
    """It changed files that it may not change: the next attempt does not build on its work."""


class Garbage(Failure, frozen=True, kw_only=True, tag="garbage"):
    """The agent ended without a valid answer."""


class TimedOut(Failure, frozen=True, kw_only=True, tag="timed_out"):
    pass


class Crashed(Failure, frozen=True, kw_only=True, tag="crashed"):
    """The program ended in an abnormal way."""


Outcome = Done | Proposed | Probed | Judged | Scored | Planned | MustWait | Failed | Garbage | TimedOut | Crashed

# --- the backend ---------------------------------------------------------------------------------------------------

Support = Literal["native", "emulated", "missing"]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    structured_output: Support = "missing"
    tool_restriction: Support = "missing"
    cost_report: Support = "missing"
    sessions: Support = "missing"
    """Whether another attempt can continue a conversation (`Assignment.sitting`)."""
    interrupt: Support = "missing"


class Backend(Protocol):
    """tests/agents/conformance.py is this contract in executable form; every backend passes it."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def look(self) -> Presence:
        """Whether the backend can be used here, as far as that is known without starting a process. Never raises."""
        ...

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        """Makes the attempt; lines of output are passed on as they come, in the thread of the event loop.

        When this returns or raises, every process of the attempt is dead, daemons included. Cancelling it kills them
        (SIGTERM, `grace` seconds, SIGKILL) before CancelledError goes on; cancelling once more ends the grace. Raises
        AotError only if no attempt could be made at all and the atom is not the cause: a program that is not installed,
        a folder that does not exist.
        """
        ...
