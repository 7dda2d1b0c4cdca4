"""The tools of a model: few, each bounded. What a model calls wrongly is told to it, and changes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from aotloop.agents.openai.messages import Called
from aotloop.agents.openai.order import Order, Trial
from aotloop.agents.openai.workspace import Refused, Workspace
from aotloop.agents.roles import may_write
from aotloop.process import blocking_run
from aotloop.process.exit_status import status_in_words
from aotloop.process.output import Tail
from aotloop.process.spec import Limits, ProcessSpec
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

LONGEST_RESULT = 12_000
"""Characters of what a tool returns."""
_LONGEST_ARGUMENTS = 500_000
_TRIAL_SECONDS = 120.0
_TRIAL_BYTES = 4000
_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}


class _Tool(msgspec.Struct, frozen=True):
    about: str
    arguments: tuple[str, ...] = ()
    changes: bool = False
    numbers: tuple[str, ...] = ()
    """Arguments that may be left out."""


TOOLS: Mapping[str, _Tool] = MappingProxyType(
    {
        "list": _Tool("Lists a folder. `.` is the top.", ("path",)),
        "read": _Tool("Reads a file, from its first line or from another one.", ("path",), numbers=("line",)),
        "search": _Tool("Finds the lines of all files that have exactly these words.", ("words",)),
        "write": _Tool("Writes a whole file, new or not.", ("path", "text"), changes=True),
        "patch": _Tool("Replaces `old`, which is in the file exactly once, by `new`.", ("path", "old", "new"), True),
        "check": _Tool("Runs what decides whether the work is done, and shows its output.", (), changes=True),
    }
)


class _Tried(msgspec.Struct, frozen=True, kw_only=True):
    is_passed: bool
    words: str


class Toolbox:
    def __init__(self, order: Order, workspace: Workspace) -> None:
        self._order = order
        is_worker = may_write(order.role)
        self.names = [name for name, tool in TOOLS.items() if is_worker or not tool.changes]
        if not order.trials and "check" in self.names:
            self.names.remove("check")
        self._actions: dict[str, Callable[..., str]] = {
            "list": workspace.listed,
            "read": lambda path, line=1: _from_line(workspace.read(path), line),
            "search": workspace.search,
            "write": workspace.write,
            "patch": workspace.patch,
            "check": self._check,
        }

    @property
    def described(self) -> list[dict[str, Any]]:
        return [_described(name, TOOLS[name]) for name in self.names]

    def use(self, called: Called) -> str:
        """What the tool says; a call that makes no sense gets the reason."""
        try:
            return cut(self._used(called), LONGEST_RESULT)
        except Refused as why:
            return f"refused: {why}"
        except OSError as error:
            return f"refused: {error.strerror or 'it cannot be done'}"

    def _used(self, called: Called) -> str:
        if called.name not in self.names:
            raise Refused(f"there is no tool {one_line(called.name, 40)!r}; there are: {', '.join(self.names)}")
        return self._actions[called.name](**_arguments(called))

    @property
    def passes(self) -> bool:
        """Whether there is a check, and all of its commands say yes."""
        return bool(self._order.trials) and all(tried(trial).is_passed for trial in self._order.trials)

    def _check(self) -> str:
        return "\n\n".join(tried(trial).words for trial in self._order.trials)


def _described(name: str, tool: _Tool) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {**dict.fromkeys(tool.arguments, _TEXT), **dict.fromkeys(tool.numbers, _NUMBER)},
        "required": list(tool.arguments),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": tool.about, "parameters": parameters}}


def _from_line(text: str, line: int) -> str:
    """A long file is read in parts; what is left of it is told."""
    lines = text.splitlines(keepends=True)
    rest = lines[max(0, line - 1) :]
    shown = size = 0
    while shown < len(rest) and (size := size + len(rest[shown])) <= LONGEST_RESULT - 100:
        shown += 1
    if shown == len(rest) or not shown:
        return "".join(rest)
    return f"{''.join(rest[:shown])}(the file has {len(lines)} lines; read on with line {max(line, 1) + shown})"


def _arguments(called: Called) -> dict[str, Any]:
    tool = TOOLS[called.name]
    wanted = tool.arguments
    if len(called.arguments) > _LONGEST_ARGUMENTS:
        raise Refused("the arguments are too long")
    try:
        given = json.loads(called.arguments or "{}")
    except (ValueError, RecursionError):
        raise Refused("the arguments are not valid JSON") from None
    if not isinstance(given, dict):
        raise Refused("the arguments must be an object")
    if called.name == "list":
        given.setdefault("path", ".")
    missing = [name for name in wanted if not isinstance(given.get(name), str)]
    if missing:
        raise Refused(f"{called.name} needs the text {', '.join(missing)}")
    numbers = {name: _number(given[name]) for name in tool.numbers if given.get(name) is not None}
    return {name: given[name] for name in wanted} | numbers


def _number(given: Any) -> int:
    try:
        return min(max(int(given), 1), 10**9)
    except (TypeError, ValueError, OverflowError):
        raise Refused("a line is a number") from None


def tried(trial: Trial) -> _Tried:
    """Runs one command of the check; nothing that it starts outlives it."""
    tail = Tail(_TRIAL_BYTES)
    spec = ProcessSpec(
        argv=("/bin/sh", "-c", trial.command),
        env=dict(os.environ),
        stderr="stdout",
        limits=Limits(total=_TRIAL_SECONDS),
    )
    completed = blocking_run.run(spec, out=tail)
    if completed.expiry is not None:
        ending, is_passed = completed.expiry.reason, False
    else:
        ending = status_in_words(completed.status) if completed.status is not None else "ended by us"
        is_passed = (completed.status == 0) == trial.succeeds
    verdict = "passed" if is_passed else "not passed"
    words = f"{one_line(trial.name, 100)}: {verdict} ({ending})\n{plain(tail.text())}".rstrip()
    return _Tried(is_passed=is_passed, words=words)
