"""A layer is all that one source says, unread: flags, variables, the project's file, the user's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from aotloop.config.files import content_of, toml_in
from aotloop.config.places import Place
from aotloop.config.tables import KEYS, read_settings, table
from aotloop.config.values import shown, switch
from aotloop.errors import AotError

PROJECT_FILE = "aot.toml"
PYPROJECT = "pyproject.toml"

VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "AOT_AGENT": "agent",
        "AOT_ISOLATION": "isolation",
        "AOT_CONFINE": "confine",
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
        return read_settings(self.settings, self.place_of)


# --- what is said for one run ------------------------------------------------------------------------------------


def of_flags(flags: Mapping[str, Any]) -> Layer:
    """None: the flag was not given."""
    given = {key: value for key, value in flags.items() if value is not None}
    return Layer(given, lambda key: Place(f"--{key.replace('_', '-')}"))


def of_variables(environ: Mapping[str, str]) -> Layer:
    """An empty one is as good as none."""
    names = {key: name for name, key in VARIABLES.items() if environ.get(name)}
    given = {key: _switch(name, environ[name]) if KEYS[key] is switch else environ[name] for key, name in names.items()}
    return Layer(given, lambda key: Place(names[key]))


def _switch(name: str, word: str) -> bool:
    if word.strip().lower() not in _SWITCHES:
        raise Place(name).mistake(f"{shown(word)} is neither yes nor no", "Write 1 or 0.")
    return _SWITCHES[word.strip().lower()]


# --- what is written down ----------------------------------------------------------------------------------------


def of_project(root: Path) -> Layer:
    """From one file: two that both have something to say would leave open which of them is meant."""
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
    """One that never mentions us is not even read: whether it is any good is the business of others."""
    content = content_of(path)
    if content is None or b"aot" not in content:
        return _NOTHING
    tools = toml_in(content, path).get("tool", {})
    if not isinstance(tools, dict) or "aot" not in tools:
        return _NOTHING
    at = Place(str(path), ("tool", "aot"))
    return Layer(table(tools["aot"], at), at.inner, path)


_NOTHING = Layer({}, Place("").inner)
