"""The permissions of an agent that asks: a worker may do anything within its folder, other roles may only read.

This does not restrict an agent that does not ask: it works with the rights of our user.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from aotloop.agents.acp.rpc import Refused
from aotloop.agents.roles import Role, may_write
from aotloop.foreign_files import read_foreign

_LOOKING = {"read", "search", "think", "fetch"}
_MOST_BYTES = 1_000_000


def decision(role: Role, cwd: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer to `session/request_permission`."""
    call = asked.get("toolCall")
    call = call if isinstance(call, dict) else {}
    is_fine = (may_write(role) or str(call.get("kind")) in _LOOKING) and all(
        is_inside(cwd, path) for path in _paths(call)
    )
    wanted = ("allow_once", "allow_always") if is_fine else ("reject_once", "reject_always")
    offered = {str(option.get("kind")): option.get("optionId") for option in _dicts(asked.get("options"))}
    chosen = next((offered[kind] for kind in wanted if kind in offered), None)
    if chosen is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


def is_inside(cwd: Path, path: str) -> bool:
    """Whether the path is inside the folder; links are followed."""
    try:
        real = os.path.realpath(cwd / path)
    except (OSError, ValueError):
        return False
    top = os.path.realpath(cwd)
    return real == top or real.startswith(top.rstrip("/") + "/")


def read_file(cwd: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused, OSError."""
    path = _allowed_path(cwd, asked)
    try:
        content = read_foreign(os.path.realpath(path), _MOST_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Refused(f"{path} is longer than {_MOST_BYTES} bytes") from None
        raise
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    line, limit = asked.get("line"), asked.get("limit")
    start = max(0, line - 1) if isinstance(line, int) else 0
    end = start + limit if isinstance(limit, int) else None
    return {"content": "".join(lines[start:end])}


def write_file(role: Role, cwd: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused, OSError."""
    if not may_write(role):
        raise Refused(f"a {role} changes nothing")
    path, content = _allowed_path(cwd, asked), asked.get("content")
    if not isinstance(content, str):
        raise Refused("there is no content to write")
    if ".git" in path.relative_to(os.path.realpath(cwd)).parts:
        raise Refused("what git keeps is not to be written")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", errors="replace", newline="")
    return {}


def _allowed_path(cwd: Path, asked: dict[str, Any]) -> Path:
    path = asked.get("path")
    if not isinstance(path, str) or not is_inside(cwd, path):
        raise Refused(f"{path} is not within {cwd}")
    return Path(os.path.realpath(cwd / path))


def _paths(call: dict[str, Any]) -> list[str]:
    places = [*_dicts(call.get("locations")), *_dicts(call.get("content"))]
    return [place["path"] for place in places if isinstance(place.get("path"), str)]


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
