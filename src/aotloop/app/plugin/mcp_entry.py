"""Tells a client of `aot mcp`: in the `.mcp.json` of a project for Claude Code, by its own command for Codex.

Other entries of the file stay as they are. A file that cannot be understood is never written.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from aotloop.app.plugin.client_command import ask
from aotloop.app.plugin.client_settings import read_settings, write_settings
from aotloop.errors import AotError, Unavailable

FILE = ".mcp.json"
SERVER = "aotloop"


def is_server_installed() -> bool:
    return find_spec("mcp") is not None


def add_to_project(project: Path) -> Path:
    """Raises AotError if the file is not what it should be."""
    path = project / FILE
    content = read_settings(path)
    servers = content.setdefault("mcpServers", {})
    if not isinstance(servers, dict):
        raise AotError(f"{path}: `mcpServers` is not a table", hint="Correct the file, then try again.")
    servers[SERVER] = {"command": _program(), "args": ["mcp"]}
    write_settings(path, content)
    return path


def remove_from_project(project: Path) -> bool:
    """Whether our entry was there. A file that has nothing else is removed."""
    path = project / FILE
    content = read_settings(path)
    servers = content.get("mcpServers")
    if not isinstance(servers, dict) or servers.pop(SERVER, None) is None:
        return False
    if servers or set(content) != {"mcpServers"}:
        write_settings(path, content)
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
