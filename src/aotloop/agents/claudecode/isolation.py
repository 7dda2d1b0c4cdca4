"""The repository is heard, the operator is not; and who judges takes no settings from the tree that is judged.

A worker gets the repository's settings and skills, like anybody who works there: they may set variables, the address of
the service included, and name a program that is run. So a probe and a verifier get its instruction files only.

Whatever its setting sources, Claude Code reads the instruction files of every folder up to the root of the disk, hence
those of the operator if it works below a home. Those above the repository are excluded one by one.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.agents.results import Role

_INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".claude/rules/**")
_READ_AGENTS_MD = "The repository's instructions are in AGENTS.md; read that first."
"""Among the files the client takes from an added folder there is no AGENTS.md."""


def options(role: Role, cwd: Path) -> tuple[str, ...]:
    ours = {"disableAllHooks": True, "claudeMdExcludes": _excluded(cwd)}
    alone = ("--strict-mcp-config", "--no-session-persistence", "--settings", msgspec.json.encode(ours).decode())
    if role == "worker":
        return ("--setting-sources", "project", *alone)
    folders = _inside(cwd.absolute())
    return ("--setting-sources", "", "--add-dir", *map(str, folders), *alone, *_agents_md(folders))


def variables(role: Role) -> dict[str, str]:
    return {} if role == "worker" else {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}


def _agents_md(folders: tuple[Path, ...]) -> tuple[str, ...]:
    def has(name: str) -> bool:
        return any((folder / name).is_file() for folder in folders)

    is_needed = has("AGENTS.md") and not has("CLAUDE.md")
    return ("--append-system-prompt", _READ_AGENTS_MD) if is_needed else ()


def _excluded(cwd: Path) -> list[str]:
    above = {folder for path in (cwd.absolute(), cwd.resolve()) for folder in _inside(path)[0].parents}
    return [f"{str(folder).rstrip('/')}/{name}" for folder in sorted(above) for name in _INSTRUCTIONS]


def _inside(cwd: Path) -> tuple[Path, ...]:
    """The folders from the top of the repository down to this one; this one alone, where there is no repository."""
    upwards = (cwd, *cwd.parents)
    depth = next((number for number, folder in enumerate(upwards) if (folder / ".git").exists()), 0)
    return tuple(reversed(upwards[: depth + 1]))
