"""Events of a run for its observers: one small value for each event, the same for a terminal and a file.

They are written to `.aot/events.jsonl` as lines of JSON (`kind` names the type). No decision ever reads them back.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.core.model import Used
from aotloop.execution.journals.records import CheckedPart


class RunEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    at: str  # ISO 8601, UTC


# --- the run -----------------------------------------------------------------------------------------------------


class RunBegan(RunEvent, frozen=True, kw_only=True, tag="run_began"):
    run_id: str
    pid: int
    goal: str
    isolation: Literal["worktree", "none"]
    branch: str | None = None
    slots: int = 1
    attempts_at_most: int | None = None
    max_cost_usd: float | None = None
    """The most USD for the loop, earlier runs included."""
    overriding: dict[str, int | float | str] = {}  # limits that replace the file's in this run


class AgentFound(RunEvent, frozen=True, kw_only=True, tag="agent_found"):
    """A client that this run will use, as found at its start. `problem`: why its version is not known."""

    agent: str
    backend: str
    program: str | None = None
    version: str | None = None
    problem: str | None = None


class Warned(RunEvent, frozen=True, kw_only=True, tag="warning"):
    text: str
    atom: str | None = None


class CorrectionTaken(RunEvent, frozen=True, kw_only=True, tag="correction"):
    """A person changed something: by a command of ours, or in the file."""

    text: str


class Paused(RunEvent, frozen=True, kw_only=True, tag="paused"):
    """Nothing new starts. `running`: names of the attempts that go on."""

    running: tuple[str, ...] = ()


class PauseEnded(RunEvent, frozen=True, kw_only=True, tag="resumed"):
    pass


class EndAnnounced(RunEvent, frozen=True, kw_only=True, tag="end_announced"):
    """The run will end for this reason. `running` attempts are waited for or, with `are_ended`, ended now."""

    reason: str
    running: tuple[str, ...]
    are_ended: bool = False


class RunEnded(RunEvent, frozen=True, kw_only=True, tag="run_ended"):
    """`reason` is None if the base case holds. `worked`: False if it held before any work."""

    status: Literal["stopped", "completed"]
    reason: str | None = None
    worked: bool = True
    seconds: float = 0.0
    cost_usd: float = 0.0
    used: Used = Used()


# --- attempts ----------------------------------------------------------------------------------------------------


class AttemptBegan(RunEvent, frozen=True, kw_only=True, tag="attempt_began"):
    atom: str
    attempt: int
    """Counted through the whole life of the loop: it names the folder of its journal."""
    role: Literal["worker", "probe"]
    agent: str
    description: str = ""
    folder: str = ""
    """The folder of its journal, from the project's root: prompt.md, transcript.jsonl, …"""
    name: str = ""
    """Such as `A2#1`: see `execution.attempts.attempt_names`. Empty in journals of earlier versions, here and below."""


class AttemptEnded(RunEvent, frozen=True, kw_only=True, tag="attempt_ended"):
    """`outcome`: done, proposed, probed, must_wait, failed, garbage, timed_out, crashed, cancelled, unavailable."""

    atom: str
    attempt: int
    outcome: str
    summary: str = ""
    """A summary of the work, or the reason of the failure."""
    seconds: float = 0.0
    cost_usd: float | None = None
    used: Used = Used()
    name: str = ""
    checks: tuple[CheckedPart, ...] = ()


class Merged(RunEvent, frozen=True, kw_only=True, tag="merged"):
    """Its work is on the branch; `commit` is None if it changed no file. `checked_on`: the machine of that check."""

    atom: str
    attempt: int
    commit: str | None = None
    name: str = ""
    checked_on: str = ""


class NotMerged(RunEvent, frozen=True, kw_only=True, tag="not_merged"):
    """`why`: refused (its check fails after the merge), conflict, blocked (by a person's edits)."""

    atom: str
    attempt: int
    why: Literal["refused", "conflict", "blocked"]
    reason: str
    name: str = ""


class TakenBack(RunEvent, frozen=True, kw_only=True, tag="taken_back"):
    """The work of these atoms is no longer on the branch."""

    atoms: tuple[str, ...]
    problem: str | None = None


# --- the loop ----------------------------------------------------------------------------------------------------


class AtomResolved(RunEvent, frozen=True, kw_only=True, tag="resolved"):
    atom: str
    summary: str = ""


class AtomFailed(RunEvent, frozen=True, kw_only=True, tag="retry"):
    """It is tried again. `attempts` of `allowed` in this turn have failed; if not fewer than allowed: all so far."""

    atom: str
    attempts: int
    allowed: int
    failures: int = 0
    others: int = 0
    """Alternatives that take turns with it."""
    is_command: bool = False
    """It runs again only when something was merged."""


class NothingLeft(RunEvent, frozen=True, kw_only=True, tag="exhausted"):
    """No option is left for this atom; None: for the base case."""

    atom: str | None = None


class SwitchedTo(RunEvent, frozen=True, kw_only=True, tag="backtracked"):
    or_group: str
    left: str
    selected: str
    again: tuple[str, ...] = ()
    """Atoms that built on the old choice, and have to be done again."""
    reason: str = ""


class AtomsReopened(RunEvent, frozen=True, kw_only=True, tag="reopened"):
    """They were resolved, but an item of the base case that they cover fails."""

    atoms: tuple[str, ...]


class AtomsAdded(RunEvent, frozen=True, kw_only=True, tag="added"):
    atoms: tuple[str, ...]


class PartsWithdrawn(RunEvent, frozen=True, kw_only=True, tag="withdrawn"):
    parents: tuple[str, ...]
    atoms: tuple[str, ...]


class HalfSpent(RunEvent, frozen=True, kw_only=True, tag="half_spent"):
    """Half of the run's limits is spent since the last new result. `attempts` and `cost_usd`: since then."""

    attempts: int
    more: int
    """The most attempts that are left."""
    cost_usd: float = 0.0
    atoms: tuple[str, ...] = ()
    """Those with the most failures."""


class GenerationEnded(RunEvent, frozen=True, kw_only=True, tag="generation"):
    iteration: int
    stall_count: int


# --- checks ------------------------------------------------------------------------------------------------------


class Verifying(RunEvent, frozen=True, kw_only=True, tag="verifying"):
    """`atom` None: the base case; else a decomposed atom's own check."""

    atom: str | None = None


class Verified(RunEvent, frozen=True, kw_only=True, tag="verified"):
    passed: bool
    atom: str | None = None
    undecided: bool = False
    failing: dict[str, str] = {}
    """Item → evidence."""
    holding: dict[str, str] = {}
    waiting: dict[str, str] = {}
    """The same of items that hold, and of items that a person has to judge."""


class JudgeAsked(RunEvent, frozen=True, kw_only=True, tag="judge_asked"):
    """An agent has judged something: a judge by scores, a verifier by a judgement."""

    role: str
    cost_usd: float | None = None
    used: Used = Used()
