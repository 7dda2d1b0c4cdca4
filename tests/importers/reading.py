"""Reads plans for tests: the pieces as plain tuples, and what is said of a file that cannot be used."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aotloop.errors import AotError
from aotloop.importers.formats import read_plan
from aotloop.importers.plan import Plan


def plan(text: str | dict[str, Any] | list[Any], name: str | None = None, **more: Any) -> Plan:
    if isinstance(text, str):
        return read_plan(text.encode(), name or "fix_plan.md", **more)
    return read_plan(json.dumps(text).encode(), name or "plan.json", **more)


def waits(found: Plan) -> dict[str, tuple[str, ...]]:
    return {piece.label: piece.needs for piece in found.pieces}


def refused(text: Any, name: str | None = None, **more: Any) -> AotError:
    with pytest.raises(AotError) as caught:
        plan(text, name, **more)
    assert caught.value.exit_code == 3
    assert caught.value.message.startswith(name or ("fix_plan.md" if isinstance(text, str) else "plan.json"))
    return caught.value
