"""Whether two failures say the same."""

from __future__ import annotations

import re

_TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|m|min|minutes|h|hours)\b")
"""How long something took differs each time, and means nothing."""


def essence(reason: str) -> str:
    return " ".join(_TIMES.sub("", reason).split())
