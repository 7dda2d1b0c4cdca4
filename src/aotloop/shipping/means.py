"""What a run of a phase loop works with."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from aotloop.phases.ground import Ground
from aotloop.runner.attempt import Attempts
from aotloop.runner.branch import Branch
from aotloop.runner.crew import Crew
from aotloop.runner.journal import Journal
from aotloop.runner.news import News
from aotloop.shipping.briefing import Terms
from aotloop.shipping.places import PhasePlaces


class Means(msgspec.Struct, frozen=True, kw_only=True):
    ground: Ground
    terms: Terms
    places: PhasePlaces
    branch: Branch
    crew: Crew
    journal: Journal
    attempts: Attempts
    tell: Callable[[News], None]
