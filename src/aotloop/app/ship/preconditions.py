"""Conditions for starting or resuming a feature: a repository, a branch, an agent that can do the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aotloop.app.preflight.agents import hire
from aotloop.app.run.run_isolation import isolation_of
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.core.phases.events import LoopResumed, SessionBound
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import FINAL
from aotloop.errors import AotError, IllegalEvent, StateFileMissing, Unavailable
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.exit_codes import LIMIT, NOT_READY, PERSON_NEEDED
from aotloop.phases.project import Project
from aotloop.phases.receipts import tell
from aotloop.statefile.store import Store


def refuse_unready(project: Project, config: Config, branch: str | None) -> None:
    """Before anything is changed."""
    try:
        project.head()
    except Unavailable as error:
        error.exit_code = NOT_READY
        raise
    if config.isolation == "none":
        raise _not_ready(
            "a feature is built in worktrees, and `isolation` is none here", "Leave it out of the configuration."
        )
    if branch is None and project.repository.head().branch is None:
        raise _not_ready("no branch is checked out", "Check one out; or --branch NAME makes one.")
    refuse_without_agent(config)


def refuse_without_agent(config: Config) -> None:
    name = config.agent_of("worker")
    if name is None:
        raise _not_ready("there is no agent to do the work", "Name one with --agent, or in aot.toml.")
    presences = [hire(config, agent)[0].look() for agent in config.chain(name)]
    if all(presence.is_missing for presence in presences):
        raise _not_ready(f"the agent {name} cannot be started: {presences[0].problem}", presences[0].remedy)


def refuse_unfinished(project: Project) -> None:
    """A new feature does not replace one that is under way."""
    try:
        loop = project.store.load()
    except StateFileMissing:
        return
    if loop.status not in FINAL:
        raise _not_ready(
            f"another feature is in progress here, in {loop.phase} ({loop.status})",
            "`aot ship` continues it, `aot ship cancel` gives it up.",
        )


def worktrees_for(config: Config, store: Store, run_id: str, branch: str | None) -> Worktrees:
    """Raises if there are uncommitted changes, because agents would not see them."""
    try:
        worktrees = isolation_of(store, (), config, run_id, branch)
    except Unavailable as error:
        error.exit_code = NOT_READY
        raise
    if not isinstance(worktrees, Worktrees):
        raise AssertionError("a repository was found before")  # noqa: TRY004 - it cannot be
    return worktrees


def resumed(project: Project, limits: Mapping[str, Any], *, take_over: bool) -> PhaseLoop:
    """The loop, running, and bound to no session."""
    loop = project.store.load()
    if loop.session_id is not None:
        if loop.status != "stopped" and not take_over:
            raise Unavailable(
                f"the session {loop.session_id} drives this loop",
                hint="Leave it to that session; or `aot ship --take-over` takes it.",
            )
        loop = tell(project, SessionBound(at=now(), session_id=None, take_over=take_over)).loop
    if loop.status == "stopped" or limits:
        try:
            loop = tell(project, LoopResumed(at=now(), **limits)).loop
        except IllegalEvent as error:  # turns or money are used up, and no more are allowed now either
            hint = "`aot ship --max-iterations N` and `--budget-usd N` allow more; N is for all of it."
            raise AotError(error.why, hint=hint, exit_code=LIMIT) from error
    return loop


def refuse_other_branch(project: Project, loop: PhaseLoop, branch: str | None) -> None:
    """The proofs so far are on the branch on which the feature was begun."""
    wanted, head = loop.artifacts.branch, project.repository.head().branch
    present = head.removeprefix("refs/heads/") if head is not None else None
    if branch is None and wanted is not None and present != wanted and loop.receipts:
        raise Unavailable(
            f"the feature is built on {wanted}, and {present or 'no branch'} is checked out",
            hint=f"`git switch {wanted}`; or --branch continues on another one.",
            exit_code=PERSON_NEEDED,
        )


def _not_ready(message: str, hint: str | None) -> AotError:
    return AotError(message, hint=hint, exit_code=NOT_READY)
