"""What a run tells whoever watches: one small value for each thing that happened, the same for a terminal and a file.

They are written to `.aot/events.jsonl` as lines of JSON (`kind` says which), and nothing is ever read back from there
to decide anything.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from aotloop.core.model import Used


class News(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    at: str
    """ISO 8601, UTC."""


# --- the run -----------------------------------------------------------------------------------------------------


class RunBegan(News, frozen=True, kw_only=True, tag="run_began"):
    run_id: str
    pid: int
    goal: str
    isolation: Literal["worktree", "none"]
    branch: str | None = None
    slots: int = 1
    attempts_at_most: int | None = None
    """That this run may make."""
    max_cost_usd: float | None = None
    """That the loop may cost, earlier runs included."""
    overriding: dict[str, int | float | str] = {}
    """Limits that hold for this run instead of the file's."""


class AgentFound(News, frozen=True, kw_only=True, tag="agent_found"):
    """A client that this run will use, as it was when the run began. `problem`: why its version is not known."""

    agent: str
    backend: str
    program: str | None = None
    version: str | None = None
    problem: str | None = None


class Warned(News, frozen=True, kw_only=True, tag="warning"):
    text: str
    atom: str | None = None


class CorrectionTaken(News, frozen=True, kw_only=True, tag="correction"):
    """A person changed something: by a command of ours, or in the file."""

    text: str


class RunEnded(News, frozen=True, kw_only=True, tag="run_ended"):
    """`reason` is None if the base case holds. `worked`: False if it held before anything was done."""

    status: Literal["stopped", "completed"]
    reason: str | None = None
    worked: bool = True
    seconds: float = 0.0
    cost_usd: float = 0.0
    used: Used = Used()


# --- attempts ----------------------------------------------------------------------------------------------------


class AttemptBegan(News, frozen=True, kw_only=True, tag="attempt_began"):
    atom: str
    attempt: int
    """The number of this attempt in all of the loop's life: it names the folder of its journal."""
    role: Literal["worker", "probe"]
    agent: str
    description: str = ""
    folder: str = ""
    """Of its journal, from the project's root: prompt.md, transcript.jsonl, …"""


class AttemptEnded(News, frozen=True, kw_only=True, tag="attempt_ended"):
    """`outcome`: done, proposed, probed, must_wait, failed, garbage, timed_out, crashed, cancelled, unavailable."""

    atom: str
    attempt: int
    outcome: str
    summary: str = ""
    """Of what was done, or why it was not."""
    seconds: float = 0.0
    cost_usd: float | None = None
    used: Used = Used()


class Merged(News, frozen=True, kw_only=True, tag="merged"):
    """Its work is on the branch; `commit` is None if it changed no file, or works in place."""

    atom: str
    attempt: int
    commit: str | None = None


class NotMerged(News, frozen=True, kw_only=True, tag="not_merged"):
    """`why`: refused (its check fails on top of what was merged meanwhile), conflict, blocked (by a person's edits)."""

    atom: str
    attempt: int
    why: Literal["refused", "conflict", "blocked"]
    reason: str


class TakenBack(News, frozen=True, kw_only=True, tag="taken_back"):
    """What these atoms had contributed is no longer on the branch."""

    atoms: tuple[str, ...]
    problem: str | None = None


# --- the loop ----------------------------------------------------------------------------------------------------


class AtomResolved(News, frozen=True, kw_only=True, tag="resolved"):
    atom: str
    summary: str = ""


class AtomFailed(News, frozen=True, kw_only=True, tag="retry"):
    """It is tried again. `attempts` have failed, of `allowed` in this turn; if they are not fewer: so far, in all."""

    atom: str
    attempts: int
    allowed: int
    failures: int = 0
    """In all."""
    others: int = 0
    """Alternatives, with which it takes turns."""


class NothingLeft(News, frozen=True, kw_only=True, tag="exhausted"):
    """For this atom; None: for the base case."""

    atom: str | None = None


class SwitchedTo(News, frozen=True, kw_only=True, tag="backtracked"):
    or_group: str
    left: str
    selected: str
    again: tuple[str, ...] = ()
    """What was built on the choice that was left, and has to be done again."""
    reason: str = ""


class AtomsReopened(News, frozen=True, kw_only=True, tag="reopened"):
    """They had been resolved; an item of the base case that they cover fails."""

    atoms: tuple[str, ...]


class AtomsAdded(News, frozen=True, kw_only=True, tag="added"):
    atoms: tuple[str, ...]


class PartsWithdrawn(News, frozen=True, kw_only=True, tag="withdrawn"):
    parents: tuple[str, ...]
    atoms: tuple[str, ...]


class HalfSpent(News, frozen=True, kw_only=True, tag="half_spent"):
    """Since something new was resolved, half of what the run might take is spent: a person should know."""

    attempts: int
    """Made since then."""
    more: int
    """That may still be made, at most."""
    cost_usd: float = 0.0
    """Since then."""
    atoms: tuple[str, ...] = ()
    """Those that failed most."""


class GenerationEnded(News, frozen=True, kw_only=True, tag="generation"):
    iteration: int
    stall_count: int


# --- checks ------------------------------------------------------------------------------------------------------


class Verifying(News, frozen=True, kw_only=True, tag="verifying"):
    """`atom` None: the base case; else a decomposed atom's own check."""

    atom: str | None = None


class Verified(News, frozen=True, kw_only=True, tag="verified"):
    passed: bool
    atom: str | None = None
    undecided: bool = False
    failing: dict[str, str] = {}
    """Item → evidence."""


# --- the phase loop ----------------------------------------------------------------------------------------------


class ShipBegan(News, frozen=True, kw_only=True, tag="ship_began"):
    """A feature is begun, or gone on with, in this phase."""

    run_id: str
    pid: int
    feature: str
    phase: str
    branch: str | None = None


class PhaseEntered(News, frozen=True, kw_only=True, tag="phase_entered"):
    """`forced`: why the one before was left without having been completed."""

    phase: str
    forced: str | None = None


class ReceiptJudged(News, frozen=True, kw_only=True, tag="receipt"):
    """What was claimed to have been produced by a phase was looked into; `reasons`: why it does not count."""

    phase: str
    artifact: str
    commit: str | None = None
    accepted: bool
    reasons: tuple[str, ...] = ()
    tests: str = ""
    """How the acceptance tests ended, if they were run for it."""


class TurnEnded(News, frozen=True, kw_only=True, tag="turn"):
    """An agent's turn is over, and the phase is not. `turn` of at most so many in this phase."""

    phase: str
    turn: int
    most: int


class ShipEnded(News, frozen=True, kw_only=True, tag="ship_ended"):
    """`status`: completed, waiting (for a person's word on the acceptance tests), stopped, cancelled; running: it broke
    off, and can be gone on with.
    """

    status: str
    phase: str
    reason: str | None = None
    seconds: float = 0.0
    cost_usd: float = 0.0


AnyNews = (
    RunBegan
    | AgentFound
    | Warned
    | CorrectionTaken
    | RunEnded
    | AttemptBegan
    | AttemptEnded
    | Merged
    | NotMerged
    | TakenBack
    | AtomResolved
    | AtomFailed
    | NothingLeft
    | SwitchedTo
    | AtomsReopened
    | AtomsAdded
    | PartsWithdrawn
    | HalfSpent
    | GenerationEnded
    | Verifying
    | Verified
    | ShipBegan
    | PhaseEntered
    | ReceiptJudged
    | TurnEnded
    | ShipEnded
)
"""For reading lines back: `msgspec.json.decode(line, type=AnyNews)`."""
