"""Puts together what a driver of phases works with: agents, worktrees and journal, as configured."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from aotloop.app.preflight.agents import hire
from aotloop.config.schema import Config
from aotloop.execution.agent_pool import AgentPool
from aotloop.execution.attempts.attempt import Attempts
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.attempts.local_maker import LocalMaker
from aotloop.execution.availability import Availability
from aotloop.execution.checker import Checks, LocalChecker
from aotloop.execution.integration.branch import Branch
from aotloop.execution.isolation.worktree_place import Worktrees
from aotloop.execution.journals.journal import Journal
from aotloop.execution.verification import Verification
from aotloop.phases.driver.announcer import Announcer
from aotloop.phases.driver.phase_run import DriverContext, Terms
from aotloop.phases.project import Project


def context_for(
    project: Project, config: Config, worktrees: Worktrees, run_id: str, journal: Journal, announcer: Announcer
) -> DriverContext:
    agent_pool = AgentPool(config, partial(hire, config), Availability(config.patience))
    maker = LocalMaker(
        isolation=worktrees,
        records=journal.attempt_folder,
        state_file=Path(project.store.path),
        on_output=announcer.output,
        conversations=Conversations(),
    )
    # No turn has a check: what it claims is verified when its receipt is filed.
    verification = Verification(timeout=config.check_timeout, variables=config.variables(run_id))
    attempts = Attempts(
        isolation=worktrees,
        checks=Checks(LocalChecker(worktrees, verification)),
        agent_pool=agent_pool,
        journal=journal,
        maker=maker,
    )
    terms = Terms(
        settings=config.ship,
        run_id=run_id,
        most_for_one=config.max_attempt_cost_usd,
        prefix=project.repository.prefix,
    )
    return DriverContext(
        project=project,
        terms=terms,
        branch=branch_of(worktrees),
        agent_pool=agent_pool,
        journal=journal,
        attempts=attempts,
        tell=announcer.news,
    )


def branch_of(worktrees: Worktrees) -> Branch:
    if worktrees.branch is None:
        raise AssertionError("worktrees are of a branch")
    return worktrees.branch
