"""Orphans: processes that lost their parent become children of this process, as long as it lives.

So a daemon that a command left behind without a fence still has this process among its ancestors. By them it is known
that it speaks for no person (`aotloop.process.ancestry`).
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache

_PR_SET_CHILD_SUBREAPER = 36


@cache
def adopt_orphans() -> None:
    """Once for a process. Elsewhere than on Linux, nothing happens."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - behind a fence it is not needed

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
