"""The permissions of an agent that asks: a worker may do anything within its folder, other roles may only read.

This does not restrict an agent that does not ask. But what we read and write for it is done without its fence, while it
may exchange files and folders for links. So each folder on the way is opened from the one above it, and the fence's
closed places are closed here, too.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.acp.rpc import Refused
from aotloop.agents.roles import Role, may_write
from aotloop.foreign_files import read_in, write_in
from aotloop.foreign_tree import Identity, folder_beneath, identity_of
from aotloop.process.sandbox import Confinement
from aotloop.process.sandbox.fence import is_at_or_in

_LOOKING = {"read", "search", "think", "fetch"}
_MOST_BYTES = 1_000_000


class Grounds(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of the agent, as it was before the agent began: what comes in its place later is another one."""

    top: str
    identity: Identity
    closed: tuple[str, ...] = ()
    """What it may not change in it."""


def grounds_of(cwd: Path, confinement: Confinement | None = None) -> Grounds:
    """Call it before the agent begins."""
    top, identity = os.path.realpath(cwd), identity_of(cwd)
    closed = map(os.path.realpath, confinement.closed if confinement is not None else ())
    return Grounds(top=top, identity=identity, closed=tuple(path for path in closed if is_at_or_in(path, top)))


def decision(role: Role, grounds: Grounds, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer to `session/request_permission`."""
    call = asked.get("toolCall")
    call = call if isinstance(call, dict) else {}
    is_fine = (may_write(role) or str(call.get("kind")) in _LOOKING) and all(
        is_inside(grounds, path) for path in _paths(call)
    )
    wanted = ("allow_once", "allow_always") if is_fine else ("reject_once", "reject_always")
    offered = {str(option.get("kind")): option.get("optionId") for option in _dicts(asked.get("options"))}
    chosen = next((offered[kind] for kind in wanted if kind in offered), None)
    if chosen is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": chosen}}


def is_inside(grounds: Grounds, path: str) -> bool:
    """Whether the path is inside the folder; links are followed."""
    try:
        return is_at_or_in(os.path.realpath(os.path.join(grounds.top, path)), grounds.top)  # noqa: PTH118 - as told
    except (OSError, ValueError):
        return False


def read_file(grounds: Grounds, asked: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused, OSError."""
    folder, name = _allowed_path(grounds, asked)
    try:
        with folder_beneath(Path(grounds.top), folder, known=grounds.identity) as within:
            content = read_in(within, name, _MOST_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise Refused(f"{name} is longer than {_MOST_BYTES} bytes") from None
        raise
    lines = content.decode("utf-8", "replace").splitlines(keepends=True)
    line, limit = asked.get("line"), asked.get("limit")
    start = max(0, line - 1) if isinstance(line, int) else 0
    end = start + limit if isinstance(limit, int) else None
    return {"content": "".join(lines[start:end])}


def write_file(role: Role, grounds: Grounds, asked: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused, OSError."""
    if not may_write(role):
        raise Refused(f"a {role} changes nothing")
    (folder, name), content = _allowed_path(grounds, asked), asked.get("content")
    if not isinstance(content, str):
        raise Refused("there is no content to write")
    path = os.path.join(grounds.top, folder, name)  # noqa: PTH118 - a real path
    if ".git" in (*folder.split("/"), name) or any(is_at_or_in(path, closed) for closed in grounds.closed):
        raise Refused(f"{name} is not for an agent to write")
    with folder_beneath(Path(grounds.top), folder, known=grounds.identity, makes=True) as within:
        write_in(within, name, content.encode("utf-8", "replace"))
    return {}


def _allowed_path(grounds: Grounds, asked: dict[str, Any]) -> tuple[str, str]:
    """Its folder, seen from the top, and its name. Links were followed, and may be others by now."""
    path = asked.get("path")
    if not isinstance(path, str) or not is_inside(grounds, path):
        raise Refused(f"{path} is not within {grounds.top}")
    real = os.path.realpath(os.path.join(grounds.top, path))  # noqa: PTH118 - as told
    if not is_at_or_in(real, grounds.top):
        raise Refused(f"{path} is not within {grounds.top}")
    return os.path.split(os.path.relpath(real, grounds.top))


def _paths(call: dict[str, Any]) -> list[str]:
    places = [*_dicts(call.get("locations")), *_dicts(call.get("content"))]
    return [place["path"] for place in places if isinstance(place.get("path"), str)]


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
