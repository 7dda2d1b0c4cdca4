"""The time of day, as the state file writes it. Nothing is ever decided by it: somebody may set it."""

from __future__ import annotations

import time


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
