"""Command lines of scripts. argparse would do the same, at a third of the interpreter's own start-up time more."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID")
"""Variables in which clients tell commands which session they belong to."""


class UsageError(Exception):
    """The script does not accept this command line; the message says what it accepts."""


class Option(msgspec.Struct, frozen=True):
    """`read` None: a flag, true if given."""

    read: Callable[[str], Any] | None = str
    default: Any = None
    required: bool = False


class Usage(msgspec.Struct, frozen=True):
    summary: str
    positionals: tuple[str, ...] = ()
    options: dict[str, Option] = {}

    def line(self, script: str) -> str:
        words = [f"{script}.py", *(f"<{name}>" for name in self.positionals)]
        for name, option in self.options.items():
            shown = name if option.read is None else f"{name} {name.strip('-').replace('-', '_').upper()}"
            words.append(shown if option.required else f"[{shown}]")
        return " ".join(words)


def parse(usage: Usage, argv: Sequence[str]) -> dict[str, Any]:
    """Values by name: `--or-group` is or_group."""
    values = {_key(name): (False if option.read is None else option.default) for name, option in usage.options.items()}
    given: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--":
            given.extend(words)
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            values[_key(name)] = _option_value(usage, name, value if equals else None, words)
        else:
            given.append(word)
    for name, option in usage.options.items():
        if option.required and values[_key(name)] is None:
            raise UsageError(f"{name} is missing")
    if len(given) != len(usage.positionals):
        wanted = " ".join(f"<{name}>" for name in usage.positionals) or "no words"
        raise UsageError(f"expected {wanted}, got {len(given)}: {' '.join(given)}")
    return {**values, **dict(zip(usage.positionals, (clean(word) for word in given), strict=True))}


def _option_value(usage: Usage, name: str, value: str | None, words: Any) -> Any:
    option = usage.options.get(name)
    if option is None:
        raise UsageError(f"there is no option {name}; there are: {', '.join(usage.options)}")
    if option.read is None:
        if value is not None:
            raise UsageError(f"{name} takes no value")
        return True
    word = value if value is not None else next(words, None)
    if word is None:
        raise UsageError(f"{name} needs a value")
    try:
        return option.read(clean(word))
    except ValueError:
        raise UsageError(f"{name} cannot be {word!r}") from None


def comma_separated(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def clean(word: str) -> str:
    """Bytes of the command line that are not UTF-8 become a replacement character: a file can hold nothing else."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("\0", "\ufffd")


def _key(option: str) -> str:
    return option.strip("-").replace("-", "_")


def session_told() -> str | None:
    """The session that the client named to the commands it runs."""
    return next((found for name in SESSIONS if (found := os.environ.get(name))), None)
