"""Commands about shipping that a person typed, and their options. Text of agents or notices does not count.

`/aot-loop:ship` begins with a feature, if there is no open loop. Otherwise its first word is the person's decision
about that loop, and without a word the loop continues here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import FINAL
from aotloop.hooks.payload import PLUGIN, Payload

Command = Literal["ship", "ship-status", "ship-cancel"]
Kind = Literal["begin", "go on", "take-over", "approve", "refuse", "advance", "resume", "accept"]
Value = str | int | float | bool

AS_SKILL = "source-command-"
LONGEST = 20_000

_COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"ship": "ship", "ship-status": "ship-status", "ship-cancel": "ship-cancel"}
)
_ALONE: tuple[Kind, ...] = ("take-over", "approve")
_WITH_WORDS: tuple[Kind, ...] = ("refuse", "advance", "resume", "accept")
_OPTIONS: Mapping[str, Callable[[str], Value] | None] = MappingProxyType(
    {
        "skip-brainstorm": None,
        "skip-test-review": None,
        "no-graph": None,
        "enforce-budget": None,
        "budget-usd": float,
        "max-iterations": int,
        "max-phase-iterations": int,
        "max-fix-cycles": int,
        "completion-promise": str,
    }
)
"""None: the option takes no value."""
_OPTION = re.compile(rf"(?<!\S)--({'|'.join(_OPTIONS)})(?:(?:\s*=\s*|\s+)(\"[^\"]*\"|'[^']*'|[^\s-]\S*))?(?!\S)")


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    text: str = ""
    """The feature, the reason, or the digest."""
    options: dict[str, Value] = {}
    mistake: str | None = None


def command_in(prompt: str) -> tuple[Command, str] | None:
    """The command in the raw prompt, with the text after it: `/aot-loop:ship …`, without the prefix, or with `$`."""
    first, rest = (*prompt[:LONGEST].split(None, 1), "", "")[:2]
    if first[:1] not in ("/", "$"):
        return None
    command = _COMMANDS.get(first[1:].removeprefix(f"{PLUGIN}:").removeprefix(AS_SKILL))
    return (command, rest.strip()) if command is not None else None


def typed(payload: Payload) -> str:
    """The command as the person types it in this client."""
    return f"/{PLUGIN}:ship" if payload.client == "claude" else f"${PLUGIN}:{AS_SKILL}ship"


def wish_in(words: str, loop: PhaseLoop | None) -> Wish:
    """`loop` None: there is none. Words that would decide about a loop are then the beginning of a feature."""
    text, options, mistake = _without_options(words)
    first, rest = (*text.split(None, 1), "", "")[:2]
    if loop is None or loop.status in FINAL:
        if text in (*_ALONE, *_WITH_WORDS):
            return Wish(kind="go on")  # no feature has such a name
        return Wish(kind="begin" if text else "go on", text=text, options=options, mistake=mistake)
    for kind in _ALONE:
        if text == kind:
            return Wish(kind=kind, options=options, mistake=mistake)
    for kind in _WITH_WORDS:
        if first == kind:
            return Wish(kind=kind, text=rest.strip(), options=options, mistake=mistake)
    return Wish(kind="begin" if text else "go on", text=text, options=options, mistake=mistake)


def _without_options(words: str) -> tuple[str, dict[str, Value], str | None]:
    """The remaining text, the options by name, and the mistake in an option, if any."""
    options: dict[str, Value] = {}
    mistakes: list[str] = []

    def taken(found: re.Match[str]) -> str:
        name, value = found[1], (found[2] or "").strip("\"'")
        read = _OPTIONS[name]
        if read is None:
            options[name] = True
            return f" {found[2]}" if found[2] else ""
        try:
            options[name] = read(value)
        except ValueError:
            mistakes.append(f"--{name} cannot be {value!r}")
        return ""

    text = _OPTION.sub(taken, words).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1].strip()
    return text, options, mistakes[0] if mistakes else None
