"""One thing that was looked at."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    what: str
    said: str
    ok: bool | None = True
    """None: worth knowing, and in nobody's way."""
    fix: str | None = None
    facts: Mapping[str, object] = {}
    """The same for a program."""
