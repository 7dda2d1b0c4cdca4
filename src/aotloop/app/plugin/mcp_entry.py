"""Tells a client of `aot mcp`: in the `.mcp.json` of a project for Claude Code, by its own command for Codex.

Other entries of the file stay as they are. A file that cannot be understood is never written.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app.plugin.client_command import ask
from aotloop.errors import AotError, Unavailable, refusal

FILE = ".mcp.json"
SERVER = "aotloop"
INSTALL = "pip install 'aotloop[mcp]'"


def is_server_installed() -> bool:
    return find_spec("mcp") is not None


def add_to_project(project: Path) -> Path:
    """Raises AotError if the file is not what it should be."""
    path = project / FILE
    content = _read(path)
    servers = content.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise AotError(f"{path}: `mcpServers` is not a table", hint="Correct the file, then try again.")
    servers[SERVER] = {"command": _program(), "args": ["mcp"]}
    _write(path, content)
    return path


def remove_from_project(project: Path) -> bool:
    """Whether our entry was there. A file that has nothing else is removed."""
    path = project / FILE
    content = _read(path)
    servers = content.get("mcpServers")
    if not isinstance(servers, dict) or servers.pop(SERVER, None) is None:
        return False
    if servers or set(content) != {"mcpServers"}:
        _write(path, content)
    else:
        path.unlink(missing_ok=True)
    return True


def add_to_codex(program: str) -> None:
    """Raises Unavailable. An entry of the same name is replaced."""
    ask(program, "mcp", "add", SERVER, "--", _program(), "mcp")


def remove_from_codex(program: str) -> None:
    with suppress(Unavailable):  # it has no such entry
        ask(program, "mcp", "remove", SERVER)


def _program() -> str:
    """By its name where every shell finds it, because others use the same file; else where it is."""
    beside = Path(sys.executable).with_name("aot")
    return "aot" if shutil.which("aot") is not None or not beside.is_file() else str(beside)


def _read(path: Path) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(path.read_bytes()) if path.is_file() else {}
    except OSError as error:
        raise refusal(error) from None
    except msgspec.MsgspecError as error:
        raise AotError(f"{path} is not valid JSON: {error}", hint="Correct the file, then try again.") from None
    if not isinstance(content, dict):
        raise AotError(f"{path} is not a JSON object", hint="Correct the file, then try again.")
    return content


def _write(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all; through a link, as the person made it."""
    goal = Path(os.path.realpath(path))
    draft = goal.with_name(f"{goal.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")
        draft.replace(goal)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise refusal(error) from None
