"""The result of one check of `aot doctor`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    subject: str
    result: str
    ok: bool | None = True
    """None: worth knowing, but not a problem."""
    fix: str | None = None
    facts: Mapping[str, object] = {}
    """The same facts for programs."""
