"""Flags outdo variables, variables the project's file, and that the user's own; tables are joined key by key."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aotloop.config.layers import home, of_flags, of_project, of_user, of_variables
from aotloop.config.model import Config
from aotloop.config.powers import powers_of
from aotloop.errors import Unavailable

_TABLES = ("timeouts", "agents", "roles")


def load(root: Path, *, flags: Mapping[str, Any] = {}, environ: Mapping[str, str] = os.environ) -> Config:
    """`flags`: by the keys of the file; None where a flag was not given. Raises AotError for every mistake."""
    project = of_project(root)
    theirs = project.read()
    mine = (of_variables(environ).read(), of_flags(flags).read())
    settings: dict[str, Any] = reduce(_joined, (of_user(environ).read(), theirs, *mine))
    if "worktrees" in settings:
        settings["worktrees"] = _expanded(settings["worktrees"], environ)
    timeouts = replace(Config().timeouts, **settings.pop("timeouts", {}))
    return Config(**settings, timeouts=timeouts, source=project.file, powers=tuple(powers_of(theirs)))


def _joined(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """An agent of both is the upper one's alone: half of one program and half of another would be neither."""
    tables = {key: {**below.get(key, {}), **above.get(key, {})} for key in _TABLES if key in below or key in above}
    return {**below, **above, **tables}


def _expanded(folder: str, environ: Mapping[str, str]) -> str:
    if not folder.startswith("~"):
        return folder
    if not home(environ).startswith("/"):
        raise Unavailable(f"{folder}: you have no home folder", hint="Set HOME to an absolute path.")
    return str(Path(home(environ), folder.removeprefix("~").lstrip("/")))
