"""Detection of a client before it is used: this starts no process, uses no network, and costs nothing.

It reports that a key or a file with a login exists, never its content.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.text.phrases import listed

_MOST_NAMED = 3


class Login(msgspec.Struct, frozen=True):
    """Only the service knows whether it is still valid."""

    state: Literal["yes", "no", "unknown"]
    because: str
    """How the login was found, in words."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How a client is asked for its version (`aotloop.agents.client.versions` does it)."""

    argv: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Variables for folders: the client would otherwise make them in the user's home, only to print its version."""
    tested: tuple[int, ...] = ()
    """The version whose behaviour is known here."""


class Presence(msgspec.Struct, frozen=True, kw_only=True):
    program: str | None = None
    """The path where it was found."""
    origin: str = ""
    """The origin of the program, where several are possible."""
    asking: Asking | None = None
    """None: the client has no known option for its version, and a start could have other effects."""
    version: str | None = None
    doubt: str | None = None
    """A doubt that its version raises."""
    login: Login | None = None
    """None: it needs no login."""
    log_in: str = ""
    """What a person does if the login is missing."""
    problem: str | None = None
    remedy: str | None = None

    @property
    def is_missing(self) -> bool:
        """Whether it is certain that the program cannot start."""
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
    """Searches the program by its name or its path."""
    if "/" in program and not program.startswith("/"):
        # The path counts from the folder of each attempt, whose content is unknown before the attempt exists.
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
    """`otherwise`: the meaning if none of the variables and no file is there."""
    names = tuple(variables)
    given = next((name for name in names if surroundings.get(name)), None)
    if given is not None:
        return Login("yes", f"{given} is set")
    if file is not None and _is_filled(file):
        return Login("yes", f"{file} is there")
    neither = [f"none of {listed(names, _MOST_NAMED)} is set"] if names else []
    neither += [f"there is no {file}"] if file is not None else []
    return Login(otherwise, ", and ".join(neither) or "it keeps its login in a place of its own")


def _is_filled(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except OSError:
        return False
