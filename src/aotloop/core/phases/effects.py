"""What a phase loop asks for: wishes in the imperative, or news, for whoever drives it."""

from __future__ import annotations

import msgspec

from aotloop.core.phases.model import Phase


class PhaseEffect(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Enter(PhaseEffect, frozen=True, kw_only=True):
    """Begin with this phase. `forced`: the one before was left by force, for this reason."""

    phase: Phase
    forced: str | None = None


class GoOn(PhaseEffect, frozen=True, kw_only=True):
    """Go on in this phase. `reasons`: why what was claimed does not count."""

    phase: Phase
    reasons: tuple[str, ...] = ()


class AskPerson(PhaseEffect, frozen=True, kw_only=True):
    """Have a person read the acceptance tests; until it agrees, nothing is spent."""

    artifact: str


class AskForPromise(PhaseEffect, frozen=True, kw_only=True):
    """Everything is proven; only the promise is missing."""

    promise: str


class Warn(PhaseEffect, frozen=True, kw_only=True):
    """Have a person know this; nothing changes by it."""

    text: str


class Stop(PhaseEffect, frozen=True, kw_only=True):
    reason: str


class Finish(PhaseEffect, frozen=True, kw_only=True):
    """The feature is shipped; nothing begins again by itself."""
