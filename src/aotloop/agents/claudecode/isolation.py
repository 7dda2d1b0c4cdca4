"""The repository is heard, its settings are not; and the operator's settings only where the operator says so.

A repository's settings may name another address of the service, another key, and programs that are run before anybody
was asked: nobody takes them, neither who works on the tree nor who judges it. Its instructions come in by the folders
that are added, and its AGENTS.md and skills in folders of ours (see `lending`).

Whatever its setting sources, Claude Code reads the instruction files of every folder up to the root of the disk, hence
those of the operator if it works below a home. Those above the repository are excluded one by one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.folders import folders_of, leads_out

_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md")
_INSTRUCTIONS = (*_FILES, ".claude/rules/**")
VARIABLES = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}


def options(cwd: Path, *lent: Path, with_operators: bool = False) -> tuple[str, ...]:
    """`lent`: folders with instructions besides those of the repository.

    `with_operators`: settings, hooks, servers and instructions of the operator are taken, too.
    """
    return (
        *("--setting-sources", "user" if with_operators else ""),
        *("--add-dir", *map(str, (*folders_of(cwd.absolute()), *lent))),
        *(() if with_operators else ("--strict-mcp-config",)),
        *("--settings", msgspec.json.encode(_settings(cwd, with_operators=with_operators)).decode()),
    )


def _settings(cwd: Path, *, with_operators: bool) -> dict[str, Any]:
    strangers = _leading_out(cwd)
    if with_operators:
        return {"enableAllProjectMcpServers": False, "enabledMcpjsonServers": [], "claudeMdExcludes": strangers}
    return {"disableAllHooks": True, "claudeMdExcludes": [*_excluded(cwd), *strangers]}


def _leading_out(cwd: Path) -> list[str]:
    """A link of the repository's would have the client tell the model some other file of the operator's."""
    found = [path for name in _FILES for path in leads_out(cwd.absolute(), name)]
    return [str(one) for path in found for one in (path, path.resolve())]


def _excluded(cwd: Path) -> list[str]:
    above = {folder for path in (cwd.absolute(), cwd.resolve()) for folder in folders_of(path)[0].parents}
    return [f"{str(folder).rstrip('/')}/{name}" for folder in sorted(above) for name in _INSTRUCTIONS]
