"""Lean imports: a library may load modules that it does not need here, and that take longer than all of ours."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


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


@contextmanager
def without_collection() -> Iterator[None]:
    """What is imported stays: the collector would look through all of it, again and again, and find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def import_click() -> None:
    with without_collection():
        import_uuid()
        import click  # noqa: F401, PLC0415


def import_msgspec() -> None:
    """Where typing_extensions is installed, msgspec loads it, though `typing` has the same; half a start-up.

    What Python's own `datetime` has is made in C, and only then replaces what is written in Python (before 3.12).
    """
    import_uuid()
    text: Any = ModuleType("textwrap")
    text.dedent = lambda *given: import_module("textwrap").dedent(*given)
    with standing_in("typing_extensions"), standing_in("textwrap", text), standing_in("datetime", _made_in_c()):
        import msgspec  # noqa: F401, PLC0415


def _made_in_c() -> ModuleType:
    return import_module("_datetime")


def import_uuid() -> None:
    """Msgspec and click load `uuid`, which loads `platform` only to ask for the name of the system."""
    stand_in: Any = ModuleType("platform")
    stand_in.system = lambda: os.uname().sysname
    with standing_in("platform", stand_in):
        import uuid  # noqa: F401, PLC0415


def import_pathlib() -> None:
    """It loads all that parses addresses, for one function that makes them, which we do not call."""
    stand_in: Any = ModuleType("urllib.parse")
    stand_in.quote_from_bytes = lambda *given: import_module("urllib.parse").quote_from_bytes(*given)
    with standing_in("urllib.parse", stand_in):
        import pathlib  # noqa: F401, PLC0415
