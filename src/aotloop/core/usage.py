"""Sums of what models were used for."""

from __future__ import annotations

from collections.abc import Iterable

from aotloop.core.model import Used


def together(parts: Iterable[Used]) -> Used:
    parts = tuple(parts)
    return Used(**{kind: sum(getattr(part, kind) for part in parts) for kind in Used.__struct_fields__})


def tokens_of(used: Used) -> int:
    return used.input + used.output + used.cache_read + used.cache_write
