"""Only this module reads files of settings: whatever is wrong with one as a file is said with its name and line."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from aotloop.errors import AotError, Unavailable

LARGEST = 1_000_000
"""Bytes. No person writes so many settings."""

_COMPLAINT = re.compile(
    r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL
)


def content_of(path: Path) -> bytes | None:
    """None: there is no such file. What is not a regular file is never opened, as a pipe would keep us waiting."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unavailable(f"{path} is not a regular file", hint="Settings are read from a file; move this away.")
        if status.st_size > LARGEST:
            raise Unavailable(f"{path} is too large for a file of settings", hint="Is it what it should be?")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise Unavailable(f"{path} is a link that leads nowhere", hint="Repair it, or remove it.") from None
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint="Make it readable, or remove it.") from error


def toml_in(content: bytes, path: Path) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")  # some editors begin a file with a mark that is no TOML
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise AotError(f"{path}: line {line}: not valid UTF-8", hint="Save the file as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AotError(
            f"{path}: {_complaint(str(error), text)}", hint="See https://toml.io for how to write it."
        ) from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, lists a thousand deep
        raise AotError(f"{path}: it holds what no setting can be: {_short(error)}") from error


def _complaint(message: str, text: str) -> str:
    """The place first, as everywhere else."""
    match = _COMPLAINT.fullmatch(message)
    if match is None:
        return message
    place = f"line {match['line']}, column {match['column']}" if match["line"] else f"line {text.count(chr(10)) + 1}"
    return f"{place}: {match['what']}"


def _short(error: Exception) -> str:
    return "too many levels" if isinstance(error, RecursionError) else "a number of too many digits"
