"""The outcomes of bringing work to a branch. Runner, session and phases use these words and no others.

`Landed` and `Blocked` are those of git: the branch has the work, or a person's change blocks it.
"""

from __future__ import annotations

import msgspec

from aotloop.execution.verification import Found
from aotloop.git.checkout.fast_forward import Blocked, Landed, Moved

__all__ = ["Blocked", "Conflicting", "Landed", "Moved", "Outcome", "Ready", "Refused", "Unwanted"]


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """Merged with the branch, without a work tree. It only has to land."""

    commit: str
    head: str | None
    """The commit of the branch at that time."""
    needs_check: bool
    """The checked commit is not the one that lands."""


class Conflicting(msgspec.Struct, frozen=True, kw_only=True):
    """It conflicts with the branch."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    """Tasks that changed these paths on the branch meanwhile."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """Merged with the branch, it fails its check."""

    reason: str
    found: Found = Found()
    head: str | None = None
    """The commit with which it was merged."""


class Unwanted(msgspec.Struct, frozen=True, kw_only=True):
    """The loop does not want it any more; nothing has landed."""


Outcome = Landed | Conflicting | Refused | Blocked | Unwanted
