"""Effects of a phase loop: requests to its driver in the imperative, or news."""

from __future__ import annotations

import msgspec

from aotloop.core.phases.model import Phase


class PhaseEffect(msgspec.Struct, frozen=True, kw_only=True):
    pass


class Enter(PhaseEffect, frozen=True, kw_only=True):
    """Begin with this phase. `forced`: the reason why the previous phase was left by force."""

    phase: Phase
    forced: str | None = None


class GoOn(PhaseEffect, frozen=True, kw_only=True):
    """Continue in this phase. `reasons`: why the claim does not count."""

    phase: Phase
    reasons: tuple[str, ...] = ()


class AskPerson(PhaseEffect, frozen=True, kw_only=True):
    """Ask a person to read the acceptance tests. No money is spent before the person agrees."""

    artifact: str


class AskForPromise(PhaseEffect, frozen=True, kw_only=True):
    """Everything is proven. Only the promise is missing."""

    promise: str


class Warn(PhaseEffect, frozen=True, kw_only=True):
    """Tell a person this. It changes nothing."""

    text: str


class Stop(PhaseEffect, frozen=True, kw_only=True):
    reason: str


class Finish(PhaseEffect, frozen=True, kw_only=True):
    """The feature is shipped. No phase begins again by itself."""
