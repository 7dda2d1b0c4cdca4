"""Calls of tools that a model wrote as text, because its server does not know the form that it was trained to write.

Most forms hold a JSON object: with the name of a tool and its arguments, or with the arguments after a mark that names
the tool. Others hold each argument between tags. Only tools that there are count: other text in an answer is no call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from aotloop.agents.openai.messages import Called

_NAMES = ("name", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_OTHERS = frozenset(("id", "type"))
_MARK = re.compile(
    r"(?:<function=|\[TOOL_CALLS\]\s{0,4}|functions\.|tool.sep.>)(?P<name>\w{1,40})(?:[^\w{}][^{}]{0,80})?$"
)
"""Before the arguments, as Mistral, DeepSeek, Kimi and gpt-oss write it."""
_LONGEST_MARK = 200
_TAGS = re.compile(
    r"<function=(\w{1,40})>|<invoke name=\"(\w{1,40})\">|<tool_call>\s{0,4}(\w{1,40})(?=\s{0,4}<arg_key>)"
)
"""Before arguments between tags, as Qwen, Claude and GLM write them."""
_ARGUMENT = re.compile(
    r"<parameter=(\w{1,40})>|<parameter name=\"(\w{1,40})\">|<arg_key>(\w{1,40})</arg_key>\s{0,4}<arg_value>"
)
_ARGUMENT_ENDS = re.compile(r"</parameter>|</arg_value>")
_MOST_TRIES = 400
"""Beginnings of objects in an answer that are looked at."""
_MOST_CALLS = 20


def written_calls(text: str, tools: Collection[str]) -> tuple[Called, ...]:
    """In the order in which they stand there."""
    found = [*_between_tags(text, tools)] or [*_in_objects(text, tools)]
    return tuple(found[:_MOST_CALLS])


def _in_objects(text: str, tools: Collection[str]) -> Iterator[Called]:
    for at, told in _objects(text):
        mark = _MARK.search(text[max(0, at - _LONGEST_MARK) : at])
        call = _named(told, tools) if mark is None else _called(mark["name"], told, tools)
        if call is not None:
            yield call


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each that is not part of another one, with its place."""
    decoder, at = json.JSONDecoder(strict=False), 0
    for _ in range(_MOST_TRIES):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            told, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        if isinstance(told, dict):
            yield at, told
        at = end


def _named(told: dict[str, Any], tools: Collection[str]) -> Called | None:
    inner = told.get("function") if told.keys() <= {*_OTHERS, *_NAMES, "function"} else None
    told = inner if isinstance(inner, dict) else told
    name, given = (next((told[key] for key in keys if key in told), None) for keys in (_NAMES, _ARGUMENTS))
    if not told.keys() <= {*_OTHERS, *_NAMES, *_ARGUMENTS} or not isinstance(name, str):
        return None
    return _called(name, given, tools)


def _called(name: str, given: Any, tools: Collection[str]) -> Called | None:
    if name not in tools or not isinstance(given, dict | str):
        return None
    return Called(id="", name=name, arguments=given if isinstance(given, str) else json.dumps(given))


def _between_tags(text: str, tools: Collection[str]) -> Iterator[Called]:
    _, *parts = _TAGS.split(text)
    width = _TAGS.groups + 1
    for at in range(0, len(parts), width):
        *names, inside = parts[at : at + width]
        call = _called(next(filter(None, names)), dict(_arguments(inside)), tools)
        if call is not None and not inside.lstrip().startswith("{"):
            yield call


def _arguments(inside: str) -> Iterator[tuple[str, str]]:
    """Some models write tags on lines of their own: those line ends are no part of the value."""
    *closed, _ = _ARGUMENT_ENDS.split(inside)
    for argument in closed:
        if (opening := _ARGUMENT.search(argument)) is not None:
            value = argument[opening.end() :]
            is_on_lines = value.startswith("\n")
            yield next(filter(None, opening.groups())), value[1:].removesuffix("\n") if is_on_lines else value
