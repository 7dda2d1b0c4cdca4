"""Lean imports: a library may load modules that it does not need here, and that take longer than all of ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def standing_in(name: str, stand_in: ModuleType | None = None) -> Iterator[None]:
    """Meanwhile an import of this module gets the stand-in; None: it fails. A module that is loaded already stays."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = stand_in  # type: ignore[assignment]
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]
