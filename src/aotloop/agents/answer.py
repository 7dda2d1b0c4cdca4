"""The one thing that all answers of agents have in common."""

from __future__ import annotations

import msgspec


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A part of what an agent says; keys we do not know are ignored, null is the same as nothing."""
