"""Whether a failure is one that was there before: then to try once more would show the same once more.

A command is another matter: it is tried again only after something else has changed.
"""

from __future__ import annotations

import re

from aotloop.core.context import Context

_TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds|m|min|minutes|h|hours)\b")
"""How long something took differs each time, and means nothing."""


def is_repeated(context: Context, reason: str) -> bool:
    atom = context.atom
    if atom.run is not None or not atom.attempts:
        return False
    before = {_essence(one) for one in context.failures}
    return _essence(f"{atom.id}: {reason}") in before


def _essence(reason: str) -> str:
    return " ".join(_TIMES.sub("", reason).split())
