"""What a project says about how its features are shipped; it is read from [ship] of its configuration."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.core.phases.model import Phase


class ShipSettings(msgspec.Struct, frozen=True, kw_only=True):
    test_command: str | None = None
    """Runs acceptance tests; the path of their file is appended. None: it is told by the kind of the file."""
    test_timeout: float = 600.0
    """Seconds."""
    commands: Mapping[Phase, str] = {}
    """Commands or skills of the person's own, by the phase they are for."""
