"""Logins: an attempt gets a copy of the client's login, which only our user can read, and which ends with it.

A login that the client renewed is copied back: only the renewed token is still valid. Commands of the agent can write
to the copy, and a client obeys more in such a file than tokens: services, addresses, variables. So nothing else may
differ. No other file of the user is ever written.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from aotloop.deletion import discard_tree
from aotloop.errors import Unavailable
from aotloop.foreign_files import read_foreign

_MOST_BYTES = 1_000_000
_RENEWED = frozenset(
    {"access", "refresh", "expires", "access_token", "refresh_token", "id_token", "expires_at", "last_refresh"}
)
"""What a client renews. Each stays a text, or a number."""


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
    if is_ours_to_change and renewed != lent and is_renewal(lent or b"", renewed):
        beside = login.with_name(f"{login.name}.{os.getpid()}")
        _write(beside, renewed)
        beside.replace(login.resolve())


def is_renewal(lent: bytes, renewed: bytes) -> bool:
    """Whether only tokens and their times differ."""
    try:
        before, after = _without_tokens(json.loads(lent)), _without_tokens(json.loads(renewed))
    except (ValueError, RecursionError):
        return False
    return bool(before == after)


def _without_tokens(value: Any, name: str = "") -> Any:
    """A renewed value becomes its type. Numbers are not compared with truths, so each value goes with its type."""
    if isinstance(value, dict):
        return {key: _without_tokens(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_tokens(part) for part in value]
    return type(value) if name in _RENEWED and isinstance(value, str | int | float) else (type(value), value)


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
