"""Logins: an attempt gets a copy of the client's login, which only our user can read, and which ends with it.

A login that the client renewed is copied back: only the renewed token is still valid. No other file of the user is ever
written.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from aotloop.deletion import discard_tree
from aotloop.errors import Unavailable
from aotloop.foreign_files import read_foreign

_MOST_BYTES = 1_000_000


def login_file(surroundings: Mapping[str, str], variable: str, usual: str, file: str) -> Path:
    """The path of the user's login, if there is one. `usual`: in the home, where the variable is not set."""
    place = surroundings.get(variable)
    return (Path(place) if place else Path(surroundings.get("HOME", "/nonexistent")) / usual) / file


@contextlib.contextmanager
def home_with_login(home: Path, login: Path, place: str) -> Iterator[Path]:
    """A new folder for a client, with the login (if there is one) at `place` in it. Raises Unavailable."""
    copy = home / place
    try:
        discard_tree(home)
        home.mkdir(mode=0o700)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lent = _content(login)
        if lent is not None:
            _write(copy, lent)
    except OSError as error:
        raise Unavailable(f"the client cannot be given a folder of its own: {home}: {error.strerror}") from error
    try:
        yield home
    finally:
        with contextlib.suppress(OSError):
            _take_over(copy, login, lent)
        discard_tree(home)


def _take_over(copy: Path, login: Path, lent: bytes | None) -> None:
    with contextlib.suppress(FileNotFoundError):
        _put_back(read_foreign(copy, _MOST_BYTES), login, lent)  # an agent could write there


def _put_back(renewed: bytes, login: Path, lent: bytes | None) -> None:
    is_ours_to_change = lent is not None and _content(login) == lent  # else another process renewed it before us
    if renewed and renewed != lent and is_ours_to_change:
        beside = login.with_name(f"{login.name}.{os.getpid()}")
        _write(beside, renewed)
        beside.replace(login.resolve())


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
