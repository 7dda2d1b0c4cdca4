"""Conversations of Claude Code: during an attempt they are among the operator's own, afterwards in our store.

The part that has to outlive the attempt moves to the sitting's store, and back when the conversation goes on. The store
knows the name of the conversation before the attempt begins, so a killed attempt leaves only files that can be found.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from aotloop.agents.contract import Sitting
from aotloop.deletion import discard_tree
from aotloop.process.sandbox.home_folders import conversations_in

_MARK = "claude"
"""The file of a store that holds the names of its conversation and of the folder that was made for it."""
_KEPT = "conversation"
_PROJECTS = "projects"
_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FOLDER = re.compile(r"[a-zA-Z0-9-]+")


def home_of(surroundings: Mapping[str, str]) -> Path:
    """The folder in which the client keeps the operator's files."""
    place = surroundings.get("CLAUDE_CONFIG_DIR")
    return Path(place) if place else Path(surroundings.get("HOME", "/nonexistent")) / ".claude"


@contextlib.contextmanager
def conversation(sitting: Sitting | None, home: Path, cwd: Path | None = None) -> Iterator[tuple[str, ...]]:
    """The options with which the client keeps a conversation, continues one, or keeps none.

    `cwd`: where it will work. Behind a fence it can keep a conversation only in a folder that is there before.

    The client does not know a conversation that could not be put back, and reports that.
    """
    if sitting is None:
        yield ("--no-session-persistence",)
        return
    name = sitting.session.id if sitting.session is not None else str(uuid.uuid4())
    folder = Path(conversations_in(str(home), str(cwd.resolve()))) if cwd is not None else None
    with contextlib.suppress(OSError):
        (sitting.store / _MARK).write_text(f"{name}/{folder.name}" if folder is not None else name)
        _move(sitting.store / _KEPT, home, name)
    with contextlib.suppress(OSError):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        yield ("--session-id" if sitting.session is None else "--resume", name)
    finally:
        with contextlib.suppress(OSError):
            _move(home, sitting.store / _KEPT, name)
        _remove(home, name)
        if folder is not None:
            _leave(folder)


def forget(store: Path, home: Path) -> None:
    """Removes the files that a store's client has left elsewhere because its attempt was killed together with us."""
    with contextlib.suppress(OSError, ValueError):
        name, _, folder = (store / _MARK).read_text().partition("/")
        if _NAME.fullmatch(name):
            _remove(home, name)
        if _FOLDER.fullmatch(folder):
            _leave(home / _PROJECTS / folder)


def _move(source: Path, target: Path, name: str) -> None:
    for path in [*source.glob(f"{_PROJECTS}/*/{name}.jsonl"), *source.glob(f"{_PROJECTS}/*/{name}")]:
        there = target / path.relative_to(source)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(path, there)
        _leave(path.parent)


def _remove(home: Path, name: str) -> None:
    for path in [*home.glob(f"{_PROJECTS}/*/{name}*"), *home.glob(f"*/{name}*")]:
        if path.is_dir() and not path.is_symlink():
            discard_tree(path)
        else:
            path.unlink(missing_ok=True)
        _leave(path.parent)


def _leave(folder: Path) -> None:
    """A project's folder is removed with its last conversation."""
    with contextlib.suppress(OSError):
        folder.rmdir()
