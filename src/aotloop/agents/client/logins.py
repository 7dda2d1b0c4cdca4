"""Logins: an attempt gets a copy of the client's login, which only our user can read, and which ends with it.

A login that the client renewed is copied back: only the renewed token is still valid. Commands of the agent can write
to the copy, and a client obeys more in such a file than tokens: services, addresses, variables. So the person's file
gets the new tokens only, each in the place of its old one. No other file of the user is ever written.
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
_MOST = 2**53
"""Larger numbers are not the same in each client."""


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


def _put_back(copy: bytes, login: Path, lent: bytes | None) -> None:
    is_ours_to_change = lent is not None and _content(login) == lent  # else another process renewed it before us
    if lent is not None and is_ours_to_change and (renewed := with_tokens(lent, copy)) is not None:
        file = login.resolve()  # a link may lead to another disk
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        try:
            _write(beside, renewed)
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)


def with_tokens(lent: bytes, copy: bytes) -> bytes | None:
    """The login that was lent, with the tokens and times of the copy; None: none of them changed.

    Clients rewrite the whole file, and other versions leave keys out or add some: that must not lose the new tokens.
    """
    try:
        before = json.loads(lent)
        after = _renewed(before, json.loads(copy))
        return json.dumps(after, indent=2).encode() if after != before else None
    except (ValueError, RecursionError):
        return None


def _renewed(before: Any, after: Any, name: str = "") -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return {key: _renewed(part, after.get(key), key) for key, part in before.items()}
    return after if name in _RENEWED and _is_of_a_kind(before, after) else before


def _is_of_a_kind(before: Any, after: Any) -> bool:
    if isinstance(before, str):
        return isinstance(after, str) and bool(after)
    return type(before) in {int, float} and type(after) in {int, float} and 0 <= after < _MOST


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
