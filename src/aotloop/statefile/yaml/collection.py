"""Garbage collection while a file is read: all objects made then live on, and searching them takes longer than reading.

The time of a search grows with what is there already, so that a file of twice the size would take three times as long.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def suspended() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
