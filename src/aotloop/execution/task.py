"""A task: what is to be done, for which run, and by which rules. Drivers make tasks; execution carries them out.

An atom's attempt and a phase's turn are two kinds of task. Nothing in this package knows atoms, phases or loops.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from aotloop.agents.contract import Outcome
from aotloop.agents.prompts.attempt_prompt import Start
from aotloop.agents.prompts.short_prompt import Style
from aotloop.checks.judge import Judge
from aotloop.core.checks.checklist import Node
from aotloop.core.effects import Role
from aotloop.core.model import Binding
from aotloop.execution.journals.records import Kept, Record
from aotloop.git.commits.objects import title_of

WritePrompt = Callable[[str | None, Start, Style], str]
"""Takes the person's instructions for the role, what is in the folder when the task begins, and the agent's style."""

OnSpent = Callable[[Outcome], None]
"""Called for each answer of an agent that may have cost something."""

JudgeIn = Callable[[Path, OnSpent], Judge | None]
"""Returns the judge for the files in this folder; None: there is no judge."""

Inspect = Callable[[Path, tuple[str, ...]], str | None]
"""Looks at the folder and at the changed paths (from the repository's top); returns why the work is refused."""


class WarmStart(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a task may start from the files that a failed attempt left."""

    is_allowed: bool = False
    most_in_vain: int = 2
    """After so many attempts in a row that got no further from there, the next one starts clean."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """The name of the atom, or of the phase."""
    number: int
    """A run never uses a number twice."""
    attempt_name: str = ""
    """For people: `A2#1` is the first attempt on A2."""
    run_id: str
    epoch: int
    role: Role = "worker"
    description: str = ""
    commit_title: str = ""
    """The title of its commit; empty: its name and its description."""
    prompt: WritePrompt = lambda _, __, ___: ""
    command: str | None = None
    """The shell runs this; no agent is asked, and no prompt is written."""
    agent: str | None = None
    """The requested agent; None: the agent that is configured for the role."""
    timeout: float | None = None
    """Seconds; None: as configured for the agent."""
    estimate: float | None = None
    """Minutes that it is expected to take."""
    results: dict[str, Binding] = {}
    """Results of other tasks that it builds on, by their names."""
    check: Node | None = None
    """Decides whether the work is done; None: the agent's word counts."""
    touches: tuple[str, ...] = ()
    """Paths and globs that it is planned to change."""
    judge: JudgeIn | None = None
    """Decides what no program can decide in the check."""
    inspect: Inspect | None = None
    """Asked before the work is committed."""
    items: tuple[str, ...] = ()
    """Items of the base case: parts that an agent proposes may cover these, and no others."""
    allowance: float | None = None
    """USD that it may cost; None: no limit."""
    failures: int = 0
    """Earlier attempts at the same work that failed."""
    failures_in_turn: int = 0
    """Those of them in the present turn."""
    found: Record | None = None
    """A run that died has left this result: it only has to be checked."""
    warm_start: WarmStart = WarmStart()
    start: Kept | None = None
    """Files of an earlier task to begin with, whatever the rules of warm starts say; None: those rules apply."""

    @property
    def title(self) -> str:
        """One line, for the history of the repository."""
        return title_of(self.commit_title or f"{self.name}: {self.description}")
