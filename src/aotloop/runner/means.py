"""What a run works with."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aotloop.core.conduct import Run
from aotloop.runner.attempt import Attempts
from aotloop.runner.checks import Checks
from aotloop.runner.crew import Crew
from aotloop.runner.journal import Journal
from aotloop.runner.news import News
from aotloop.runner.places import Places
from aotloop.runner.records import Records


class Means(msgspec.Struct, frozen=True, kw_only=True):
    run: Run
    run_id: str
    places: Places
    checks: Checks
    crew: Crew
    journal: Journal
    records: Records
    attempts: Attempts
    most_for_one: float | None = None
    """USD that one attempt may cost; None: no limit."""
    tell: Callable[[News], None]
