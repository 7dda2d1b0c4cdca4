"""Calls of tools that a model wrote as text, because its server does not know the form that it was trained to write.

Each such form holds a JSON object with the name of a tool and its arguments: between tags, after a mark, in a fence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from aotloop.agents.openai.messages import Called

_ARGUMENTS = ("arguments", "parameters")
_OTHERS = frozenset(("id", "name", "type"))
_MOST_TRIES = 400
"""Beginnings of objects in an answer that are looked at."""
_MOST_CALLS = 20


def written_calls(text: str, tools: Collection[str]) -> tuple[Called, ...]:
    """Only of tools that there are: other JSON in an answer is no call."""
    found = (_call(told, tools) for told in _objects(text))
    return tuple(call for call in found if call is not None)[:_MOST_CALLS]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Each that is not part of another one."""
    decoder, at = json.JSONDecoder(strict=False), 0
    for _ in range(_MOST_TRIES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            told, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(told, dict):
            yield told


def _call(told: dict[str, Any], tools: Collection[str]) -> Called | None:
    inner = told.get("function") if told.keys() <= {*_OTHERS, "function"} else None
    told = inner if isinstance(inner, dict) else told
    name, given = told.get("name"), next((told[key] for key in _ARGUMENTS if key in told), None)
    if not told.keys() <= {*_OTHERS, *_ARGUMENTS} or not isinstance(name, str) or name not in tools:
        return None
    if not isinstance(given, dict | str):
        return None
    return Called(id="", name=name, arguments=given if isinstance(given, str) else json.dumps(given))
