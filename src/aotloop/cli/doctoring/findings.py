"""One thing that was looked at."""

from __future__ import annotations

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    what: str
    said: str
    ok: bool | None = True
    """None: worth knowing, and in nobody's way."""
    fix: str | None = None
