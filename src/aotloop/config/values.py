"""Each reader takes one value as it was written and returns it as we use it, or says where and what is wrong."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from aotloop.core.findings import Path, dotted
from aotloop.core.limits import seconds
from aotloop.errors import AotError
from aotloop.text.patterns import DEEP, parse
from aotloop.text.phrases import nearest
from aotloop.text.shorten import PHRASE, shorten


class Place(msgspec.Struct, frozen=True):
    source: str
    path: Path = ()

    def inner(self, part: str | int) -> Place:
        return Place(self.source, (*self.path, part))

    def mistake(self, message: str, hint: str | None = None) -> AotError:
        return AotError(f"{self}: {message}", hint=hint)

    def __str__(self) -> str:
        return f"{self.source}: {dotted(self.path)}" if self.path else self.source


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint, if a known word is similar."""
    near = nearest(word, sorted(known))
    return f"Did you mean {near}?" if near else None


Reader = Callable[[object, Place], Any]

_AGENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Plain characters: a person is asked about agents by name, and must recognise each one."""

_HOST = re.compile(r"(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


# --- text --------------------------------------------------------------------------------------------------------


def text(value: object, at: Place) -> str:
    """Text without a zero byte, because no program or file name can contain one."""
    if not isinstance(value, str):
        raise at.mistake(f"must be text, and is {kind_of(value)}")
    if "\0" in value:
        raise at.mistake("contains a zero byte, which is not allowed")
    return value


def filled_text(value: object, at: Place) -> str:
    found = text(value, at)
    if not found.strip():
        raise at.mistake("is empty", "Give it a value, or leave it out.")
    if _is_torn(found):
        raise at.mistake("is not valid UTF-8")
    return found


def agent_name(value: object, at: Place) -> str:
    name = filled_text(value, at)
    if not _AGENT_NAME.fullmatch(name):
        raise at.mistake(
            f"{shown(name)} cannot be the name of an agent", "Use letters, digits, and . _ - after the first."
        )
    return name


def one_of(choices: Iterable[str]) -> Reader:
    known = tuple(choices)

    def read(value: object, at: Place) -> str:
        word = filled_text(value, at)
        if word not in known:
            raise at.mistake(f"{shown(word)} is not one of: {', '.join(known)}", did_you_mean(word, known))
        return word

    return read


def folder(value: object, at: Place) -> str:
    """A folder. It may contain bytes that are not UTF-8, because a variable may name any folder."""
    path = text(value, at)
    if not (path.startswith(("/", "~/")) or path == "~"):
        raise at.mistake(f"{shown(path)} is not an absolute path", "Begin it with / or with ~/.")
    return path


def hosts(value: object, at: Place) -> tuple[str, ...] | str:
    """The hosts that can be reached: a list, `all` or `none`."""
    if isinstance(value, str):
        return one_of(("all", "none"))(value, at)  # type: ignore[no-any-return]
    return list_of(_host)(value, at)  # type: ignore[no-any-return]


def _host(value: object, at: Place) -> str:
    name = filled_text(value, at)
    if not _HOST.fullmatch(name):
        raise at.mistake(
            f"{shown(name)} is not the name of a host", "Write for example api.anthropic.com or *.npmjs.org."
        )
    return name


# --- yes or no, and how long -------------------------------------------------------------------------------------


def switch(value: object, at: Place) -> bool:
    if not isinstance(value, bool):
        raise at.mistake(f"must be true or false, and is {kind_of(value)}")
    return value


def duration(value: object, at: Place) -> float:
    """A duration in seconds."""
    return _seconds(value, at, 'Write seconds, or for example "90s", "30m" or "1h30m".')


def duration_or_none(value: object, at: Place) -> float | None:
    """None: no limit."""
    if value is False or (isinstance(value, str) and value.strip().lower() == "none"):
        return None
    return _seconds(value, at, 'Write seconds, or for example "90s", "30m" or "1h30m"; "none" means no limit.')


def _seconds(value: object, at: Place, hint: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise at.mistake(f"must be a length of time, and is {kind_of(value)}", hint)
    try:
        return seconds(value)
    except ValueError:
        raise at.mistake(f"{shown(value)} is not a length of time", hint) from None


# --- numbers -----------------------------------------------------------------------------------------------------

_MOST_VOTES = 9


def amount(value: object, at: Place) -> float:
    """An amount of money in USD."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise at.mistake(f"must be an amount of money in USD, and is {kind_of(value)}")
    if not 0 <= value < float("inf"):
        raise at.mistake(f"{shown(value)} is no amount of money")
    return float(value)


def positive_amount(value: object, at: Place) -> float:
    found = amount(value, at)
    if not found:
        raise at.mistake("must be more than 0", "To have no limit, leave it out.")
    return found


def positive_number(value: object, at: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise at.mistake(f"must be a whole number, and is {kind_of(value)}")
    if value < 1:
        raise at.mistake("must be 1 or more")
    return value


def odd_number(value: object, at: Place) -> int:
    """An odd number of votes, so that one of them is in the middle."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise at.mistake(f"must be a whole number, and is {kind_of(value)}")
    if not 1 <= value <= _MOST_VOTES or value % 2 == 0:
        raise at.mistake("must be odd: the median needs a middle", f"Write 1, 3, 5, 7 or {_MOST_VOTES}.")
    return value


# --- lists -------------------------------------------------------------------------------------------------------


def list_of(read: Reader) -> Reader:
    def read_all(value: object, at: Place) -> tuple[Any, ...]:
        if isinstance(value, str):
            raise at.mistake("must be a list, and is text", _as_list(at, [value]))
        return tuple(read(item, at.inner(number)) for number, item in enumerate(_items(value, at)))

    return read_all


def arguments(value: object, at: Place) -> tuple[str, ...]:
    """A program and its arguments, any of which may be empty."""
    if isinstance(value, str):
        raise at.mistake("must be a list, and is text", _as_list(at, _words(value)))
    return tuple(text(item, at.inner(number)) for number, item in enumerate(_items(value, at)))


def pattern(value: object, at: Place) -> str:
    """Patterns of files in the project. A pattern that leads out of it is refused here, where its place is known."""
    found = filled_text(value, at)
    names = parse(found).names
    if not names or found.startswith(("/", "~")) or ".." in names:
        raise at.mistake(f"{shown(found)} is not a path within the project", "Write it as seen from the project.")
    if any(DEEP in name and name != DEEP for name in names):
        raise at.mistake(f"{shown(found)} is not a pattern", "** stands for folders, and alone between slashes.")
    return found


def variable(value: object, at: Place) -> str:
    name = filled_text(value, at)
    if name == "*":
        raise at.mistake("not all variables can be passed at once", "Name them, or their beginnings, as in AWS_*.")
    if not _VARIABLE.fullmatch(name):
        raise at.mistake(f"{shown(name)} is not the name of a variable", "Write names, or beginnings, as in AWS_*.")
    return name


def _items(value: object, at: Place) -> Iterable[object]:
    if not isinstance(value, list | tuple):
        raise at.mistake(f"must be a list, and is {kind_of(value)}")
    return value


def _as_list(at: Place, words: list[str]) -> str | None:
    return f"Write: {at.path[-1]} = {json.dumps(words, ensure_ascii=False)}" if at.path else None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return ["my-agent", "{prompt}"]


# --- how a value is shown in a message --------------------------------------------------------------------------


def kind_of(value: object) -> str:
    names = {bool: "true or false", str: "text", int: "a whole number", float: "a number", type(None): "nothing"}
    kinds = {**names, list: "a list", tuple: "a list", dict: "a table"}
    return kinds.get(type(value), f"a {type(value).__name__}")


def shown(value: float | str) -> str:
    """Never the number itself: Python refuses to print numbers with very many digits."""
    if not isinstance(value, str):
        return "this number"
    return repr(shorten(value, PHRASE))


def _is_torn(value: str) -> bool:
    """Half of a character, as in variables that are not valid UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in value)
