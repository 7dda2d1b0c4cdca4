"""What has to be so before a feature is begun or gone on with: a repository, a branch, somebody who does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aotloop.config import Config
from aotloop.core.model import BaseCase, Objective
from aotloop.core.phases.events import LoopResumed, SessionBound
from aotloop.core.phases.illegal import FINAL
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError, IllegalEvent, StateFileMissing, Unavailable
from aotloop.launch.admission import BLOCKED, hire
from aotloop.launch.placing import places_of
from aotloop.phases.filing import now, tell
from aotloop.phases.ground import Ground
from aotloop.runner.worktrees import Worktrees
from aotloop.shipping.places import PhasePlaces
from aotloop.statefile.store import Store

NOT_READY, LIMIT = 3, 5

_NOTHING = Objective(goal="", base_case=BaseCase(), background_intent="", deliverables="", definition_of_done="")


def refuse_unready(ground: Ground, config: Config, branch: str | None) -> None:
    """Before anything is changed."""
    try:
        ground.head()
    except Unavailable as error:
        error.exit_code = NOT_READY
        raise
    if config.isolation != "worktree":
        raise _not_ready(
            "a feature is built in worktrees, and `isolation` is none here", "Leave it out of the configuration."
        )
    if branch is None and ground.repository.head().branch is None:
        raise _not_ready("no branch is checked out", "Check one out; or --branch NAME makes one.")
    _refuse_without_agent(config)


def _refuse_without_agent(config: Config) -> None:
    name = config.agent_of("worker")
    if name is None:
        raise _not_ready("there is no agent to do the work", "Name one with --agent, or in aot.toml.")
    presences = [hire(config, one)[0].look() for one in config.chain(name)]
    if all(one.is_missing for one in presences):
        raise _not_ready(f"the agent {name} cannot be started: {presences[0].problem}", presences[0].remedy)


def refuse_unfinished(ground: Ground) -> None:
    """A feature takes the place of none that is under way."""
    try:
        loop = ground.store.load()
    except StateFileMissing:
        return
    if loop.status not in FINAL:
        raise _not_ready(
            f"another feature is under way here, in {loop.phase} ({loop.status})",
            "`aot ship` goes on with it, `aot ship cancel` gives it up.",
        )


def places_for(ground: Ground, config: Config, store: Store, run_id: str, branch: str | None) -> PhasePlaces:
    """Raises where there are changes that agents would not see."""
    try:
        worktrees = places_of(store, _NOTHING, config, run_id, branch)
    except Unavailable as error:
        error.exit_code = NOT_READY
        raise
    if not isinstance(worktrees, Worktrees):
        raise AssertionError("a repository was found before")  # noqa: TRY004 - it cannot be
    return PhasePlaces(worktrees, ground.repository)


def resumed(ground: Ground, limits: Mapping[str, Any], *, take_over: bool) -> PhaseLoop:
    """The loop in nobody's hands but ours, and running."""
    loop = ground.store.load()
    if loop.session_id is not None:
        if loop.status != "stopped" and not take_over:
            raise Unavailable(
                f"the session {loop.session_id} drives this loop",
                hint="Leave it to that session; or `aot ship --take-over` takes it.",
            )
        loop = tell(ground, SessionBound(at=now(), session_id=None, take_over=take_over)).loop
    if loop.status == "stopped" or limits:
        try:
            loop = tell(ground, LoopResumed(at=now(), **limits)).loop
        except IllegalEvent as error:  # turns or money are used up, and no more are allowed now either
            hint = "`aot ship --max-iterations N` and `--budget-usd N` allow more; N is for all of it."
            raise AotError(error.why, hint=hint, exit_code=LIMIT) from error
    return loop


def refuse_other_branch(ground: Ground, loop: PhaseLoop, branch: str | None) -> None:
    """What was proven so far is on the branch on which it was begun."""
    wanted, head = loop.artifacts.branch, ground.repository.head().branch
    present = head.removeprefix("refs/heads/") if head is not None else None
    if branch is None and wanted is not None and present != wanted and loop.receipts:
        raise Unavailable(
            f"the feature is built on {wanted}, and {present or 'no branch'} is checked out",
            hint=f"`git switch {wanted}`; or --branch goes on elsewhere.",
            exit_code=BLOCKED,
        )


def _not_ready(message: str, hint: str | None) -> AotError:
    return AotError(message, hint=hint, exit_code=NOT_READY)
