"""Puts together what the turns of a run work with: who does them, where, and what is remembered of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from aotloop.config import Config
from aotloop.launch.admission import hire
from aotloop.phases.ground import Ground
from aotloop.runner.attempt import Attempts
from aotloop.runner.availability import Availability
from aotloop.runner.branch import Branch
from aotloop.runner.checks import Checks
from aotloop.runner.crew import Crew
from aotloop.runner.journal import Journal
from aotloop.shipping.briefing import Terms
from aotloop.shipping.means import Means
from aotloop.shipping.places import PhasePlaces
from aotloop.shipping.showing import Show


def means_for(ground: Ground, config: Config, places: PhasePlaces, run_id: str, journal: Journal, show: Show) -> Means:
    crew = Crew(config, partial(hire, config), Availability(config.patience))
    attempts = Attempts(
        places=places,
        checks=_no_checks(ground, config, run_id),
        crew=crew,
        journal=journal,
        state_file=Path(ground.store.path),
        on_output=show.output,
    )
    return Means(
        ground=ground,
        terms=Terms(settings=config.ship, run_id=run_id, most_for_one=config.max_attempt_cost_usd),
        places=places,
        branch=branch_of(places),
        crew=crew,
        journal=journal,
        attempts=attempts,
        tell=show.news,
    )


def _no_checks(ground: Ground, config: Config, run_id: str) -> Checks:
    """A phase has no check of its own: what it claims is looked into when its receipt is filed."""
    variables = {"AOT_RUN_ID": run_id}
    return Checks(ground.root, timeout=config.check_timeout, judge_at=lambda *_: None, variables=variables)


def branch_of(places: PhasePlaces) -> Branch:
    if places.branch is None:
        raise AssertionError("worktrees are of a branch")
    return places.branch
