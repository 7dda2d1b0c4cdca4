"""The sources of settings. Only this module reads such files; every mistake names the file and the line."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.config.permissions import permissions_of
from aotloop.config.restrictions import tightened
from aotloop.config.schema import Config
from aotloop.config.tables import KEYS, OWN_KEYS, read_settings, table
from aotloop.config.values import Place, shown, switch
from aotloop.errors import AotError, Unavailable

LARGEST = 1_000_000
"""Bytes. No person writes so many settings."""

_COMPLAINT = re.compile(
    r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL
)


def content_of(path: Path) -> bytes | None:
    """None: there is no such file. Only a regular file is opened, because a pipe would block."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Unavailable(f"{path} is not a regular file", hint="Settings are read from a file; move this away.")
        if status.st_size > LARGEST:
            raise Unavailable(f"{path} is too large for a file of settings", hint="Is this the right file?")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            raise Unavailable(f"{path} is a broken link", hint="Repair it, or remove it.") from None
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint="Make it readable, or remove it.") from error


def toml_in(content: bytes, path: Path) -> dict[str, Any]:
    try:
        text = content.decode("utf-8-sig")  # some editors begin a file with a byte order mark, which is not TOML
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise AotError(f"{path}: line {line}: not valid UTF-8", hint="Save the file as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AotError(
            f"{path}: {_complaint(str(error), text)}", hint="See https://toml.io for how to write it."
        ) from error
    except (ValueError, RecursionError) as error:  # numbers with thousands of digits, lists a thousand levels deep
        raise AotError(f"{path}: it contains an invalid value: {_short(error)}") from error


def _complaint(message: str, text: str) -> str:
    """The message with its place first, as everywhere else."""
    match = _COMPLAINT.fullmatch(message)
    if match is None:
        return message
    place = f"line {match['line']}, column {match['column']}" if match["line"] else f"line {text.count(chr(10)) + 1}"
    return f"{place}: {match['what']}"


def _short(error: Exception) -> str:
    return "too many levels" if isinstance(error, RecursionError) else "a number of too many digits"


PROJECT_FILE = "aot.toml"
PYPROJECT = "pyproject.toml"

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "AOT_AGENT": "agent",
        "AOT_ISOLATION": "isolation",
        "AOT_CONFINE": "confine",
        "AOT_SANDBOX": "sandbox",
        "AOT_WORKTREES": "worktrees",
        "AOT_CHECK_TIMEOUT": "check_timeout",
        "AOT_ALLOW_DIRTY": "allow_dirty",
    }
)

_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Layer(msgspec.Struct, frozen=True):
    settings: Mapping[str, object]
    place_of: Callable[[str], Place]
    file: Path | None = None

    def read(self) -> dict[str, Any]:
        """Raises AotError for a key that only the user's own file may have."""
        for key in OWN_KEYS:
            if key in self.settings:
                raise self.place_of(key).mistake(
                    "only your own settings may say this, because it sends something elsewhere",
                    "Move it to ~/.config/aotloop/config.toml.",
                )
        found = read_settings(self.settings, self.place_of)
        if self.file is not None:
            self._refuse_elsewhere(found)
        return found

    def _refuse_elsewhere(self, found: Mapping[str, Any]) -> None:
        """A repository does not decide where its files are sent."""
        agents = [name for name, agent in found.get("agents", {}).items() if agent.queue is not None]
        at = self.place_of("agents").inner(agents[0]).inner("queue") if agents else self.place_of("isolation")
        if agents or found.get("isolation") == "remote":
            raise at.mistake(
                "only your own settings may say this, because it sends files of the project to other machines",
                "Move it to ~/.config/aotloop/config.toml.",
            )

    def read_own(self) -> dict[str, Any]:
        return read_settings(self.settings, self.place_of, {**KEYS, **OWN_KEYS})


# --- settings of one run -----------------------------------------------------------------------------------------


def of_flags(flags: Mapping[str, Any]) -> Layer:
    """None: the flag was not given."""
    given = {key: value for key, value in flags.items() if value is not None}
    return Layer(given, lambda key: Place(f"--{key.replace('_', '-')}"))


def of_variables(environ: Mapping[str, str]) -> Layer:
    """An empty variable counts as not set."""
    names = {key: name for name, key in VARIABLES.items() if environ.get(name)}
    given = {key: _switch(name, environ[name]) if KEYS[key] is switch else environ[name] for key, name in names.items()}
    return Layer(given, lambda key: Place(names[key]))


def _switch(name: str, word: str) -> bool:
    if word.strip().lower() not in _SWITCHES:
        raise Place(name).mistake(f"{shown(word)} is neither yes nor no", "Write 1 or 0.")
    return _SWITCHES[word.strip().lower()]


# --- settings in files -------------------------------------------------------------------------------------------


def of_project(root: Path) -> Layer:
    """From one file only: with settings in two files it would be unclear which of them count."""
    own, shared = _own_file(root / PROJECT_FILE), _shared_file(root / PYPROJECT)
    if own.settings and shared.settings:
        raise AotError(
            f"{own.file} and [tool.aot] of {shared.file} both hold settings", hint="Keep them in one of the two."
        )
    return shared if shared.settings or own.file is None else own


def of_user(environ: Mapping[str, str]) -> Layer:
    """Only absolute paths count: a relative one would be in the repository."""
    for folder in (Path(environ.get("XDG_CONFIG_HOME", "")), Path(home(environ), ".config")):
        if folder.is_absolute():
            return _own_file(folder / "aotloop" / "config.toml")
    return _NOTHING


def home(environ: Mapping[str, str]) -> str:
    return environ["HOME"] if "HOME" in environ else os.path.expanduser("~")  # noqa: PTH111 - never raises


def _own_file(path: Path) -> Layer:
    content = content_of(path)
    return _NOTHING if content is None else Layer(toml_in(content, path), Place(str(path)).inner, path)


def _shared_file(path: Path) -> Layer:
    """A file that does not mention aotloop is not parsed, because its mistakes are not ours."""
    content = content_of(path)
    if content is None or b"aot" not in content:
        return _NOTHING
    tools = toml_in(content, path).get("tool", {})
    if not isinstance(tools, dict) or "aot" not in tools:
        return _NOTHING
    at = Place(str(path), ("tool", "aot"))
    return Layer(table(tools["aot"], at), at.inner, path)


_NOTHING = Layer({}, Place("").inner)


_TABLES = ("timeouts", "agents", "roles")


def load(root: Path, *, flags: Mapping[str, Any] = {}, environ: Mapping[str, str] = os.environ) -> Config:
    """`flags` have the keys of the file; None: the flag was not given. Raises AotError for every mistake."""
    project = of_project(root)
    theirs = project.read()
    users, mine = of_user(environ).read_own(), (of_variables(environ).read(), of_flags(flags).read())
    settings: dict[str, Any] = reduce(_joined, (users, theirs, *mine))
    settings |= tightened(_joined(_joined(users, mine[0]), mine[1]), theirs)
    if "worktrees" in settings:
        settings["worktrees"] = Path(_expanded(settings["worktrees"], environ))
    timeouts = replace(Config().timeouts, **settings.pop("timeouts", {}))
    return Config(**settings, timeouts=timeouts, source=project.file, permissions=tuple(permissions_of(theirs)))


def _joined(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """If both define an agent, only the upper definition counts, because half of two programs would be no program."""
    tables = {key: {**below.get(key, {}), **above.get(key, {})} for key in _TABLES if key in below or key in above}
    return {**below, **above, **tables}


def _expanded(folder: str, environ: Mapping[str, str]) -> str:
    if not folder.startswith("~"):
        return folder
    if not home(environ).startswith("/"):
        raise Unavailable(f"{folder}: you have no home folder", hint="Set HOME to an absolute path.")
    return str(Path(home(environ), folder.removeprefix("~").lstrip("/")))
