"""A verdict is fresh while nothing has changed that it could depend on: objective, commit, what atoms have done.

Not every change of the work moves the commit: there are loops without git, and atoms that change nothing there.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.model import Atom, Loop, Verdict
from aotloop.core.objective import digest_of


def fresh_verdict(loop: Loop, commit: str | None) -> Verdict | None:
    verdict = loop.control.verdict
    if verdict is None or verdict.outdated or verdict.commit != commit:
        return None
    return verdict if verdict.objective_digest == digest_of(loop.objective) else None


def outdate_verdict(loop: Loop, before: Atom, after: Atom) -> None:
    """Called for every atom that is replaced by another version of it."""
    verdict = loop.control.verdict
    is_touched = (before.status == "resolved") != (after.status == "resolved") or before.failures < after.failures
    if is_touched and verdict is not None and not verdict.outdated:
        loop.control = replace(loop.control, verdict=replace(verdict, outdated=True))
