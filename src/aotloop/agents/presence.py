"""What can be known of a client before it is used: nothing is started here, nothing is asked of a network or paid for.

Of a key or a file with a login, it is told that it is there, never what it holds.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

_MOST_NAMED = 3


class Login(msgspec.Struct, frozen=True):
    """Whether it is still good, only the service knows."""

    state: Literal["yes", "no", "unknown"]
    because: str
    """In words, how that is known."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a client is asked for its version (aotloop.agents.versions does it)."""

    argv: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Variables for folders that it would otherwise make in the user's home, to tell no more than its version."""
    tested: tuple[int, ...] = ()
    """The version whose behaviour is known here."""


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    program: str | None = None
    """Where it was found."""
    origin: str = ""
    """Whose it is, where there may be several."""
    asking: Asking | None = None
    """None: it is not known to tell its version, and to start it might begin anything."""
    version: str | None = None
    doubt: str | None = None
    """What its version gives reason to doubt."""
    login: Login | None = None
    """None: it needs none."""
    log_in: str = ""
    """What a person does about a login that is missing."""
    problem: str | None = None
    remedy: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether it is certain that nothing can be started."""
        return self.program is None and self.problem is not None


def look_for(
    program: str,
    *,
    install: str,
    login: Login | None = None,
    log_in: str = "",
    folders: tuple[str, ...] = (),
    tested: tuple[int, ...] = (),
    tells_version: bool = True,
) -> Presence:
    """By name, or by its path."""
    if "/" in program and not program.startswith("/"):
        # It is seen from the folder of each attempt, and what that holds is not known before there is one.
        return Presence(origin="seen from the folder of each attempt", login=login, log_in=log_in)
    found = shutil.which(program)
    if found is None:
        problem = f"there is no program {program}"
        return Presence(login=login, log_in=log_in, problem=problem, remedy=install)
    path = str(Path(found).absolute())
    asking = Asking(argv=(path, "--version"), folders=folders, tested=tested) if tells_version else None
    return Presence(program=path, login=login, log_in=log_in, asking=asking)


def login_by(
    surroundings: Mapping[str, str],
    variables: Iterable[str],
    file: Path | None = None,
    *,
    otherwise: Literal["no", "unknown"] = "no",
) -> Login:
    """`otherwise`: what it means that there is neither one of the variables nor the file."""
    names = tuple(variables)
    given = next((name for name in names if surroundings.get(name)), None)
    if given is not None:
        return Login("yes", f"{given} is set")
    if file is not None and _is_filled(file):
        return Login("yes", f"{file} is there")
    listed = ", ".join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
    neither = [f"none of {listed} is set"] if names else []
    neither += [f"there is no {file}"] if file is not None else []
    return Login(otherwise, ", and ".join(neither) or "where it keeps its login is its own affair")


def _is_filled(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return False
