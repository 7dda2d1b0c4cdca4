"""Skills and AGENTS.md of a repository: the client gets them in folders of ours, without the repository's settings.

A worker gets AGENTS.md, skills, sub-agents and commands; other roles get AGENTS.md. The client ignores hooks and
servers that a skill or a sub-agent names: it does so in plug-ins, and where all hooks are switched off. Files outside
of the repository do not belong to it, and are not lent.
"""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.client.folders import folders_of
from aotloop.agents.contract import Assignment
from aotloop.agents.roles import may_write
from aotloop.deletion import discard_tree
from aotloop.errors import Unavailable

NAME = "repository"

_KINDS = ("skills", "agents", "commands")
_MANIFEST = f'{{"name": "{NAME}", "description": "what this repository brings along", "version": "1"}}\n'
_PLUGIN, _INSTRUCTIONS = "plugin", "instructions"
_MOST_BYTES = 100_000


def options(assignment: Assignment) -> tuple[str, ...]:
    return ("--plugin-dir", str(assignment.scratch / _PLUGIN)) if _found(assignment) else ()


def instructions(assignment: Assignment) -> tuple[Path, ...]:
    """The folder with the text of AGENTS.md, which the client does not read in added folders.

    A CLAUDE.md says itself whether AGENTS.md is to be read; so AGENTS.md is not lent where there is a CLAUDE.md.
    """
    return (assignment.scratch / _INSTRUCTIONS,) if _agents_md(assignment) else ()


def lend(assignment: Assignment) -> None:
    """Call this when the attempt's own folder exists. Raises Unavailable."""
    try:
        for name in (_PLUGIN, _INSTRUCTIONS):
            discard_tree(assignment.scratch / name)
        _lend_skills(assignment.scratch / _PLUGIN, _found(assignment))
        for folder in instructions(assignment):
            folder.mkdir()
            (folder / "CLAUDE.md").write_bytes(b"\n\n".join(map(_text, _agents_md(assignment))))
    except OSError as error:
        where = assignment.scratch
        raise Unavailable(f"the client cannot be given a folder of its own: {where}: {error.strerror}") from error


def _lend_skills(folder: Path, found: dict[str, Path]) -> None:
    if found:
        (folder / ".claude-plugin").mkdir(parents=True)
        (folder / ".claude-plugin" / "plugin.json").write_text(_MANIFEST)
        for kind, place in found.items():
            (folder / kind).symlink_to(place)


def _found(assignment: Assignment) -> dict[str, Path]:
    """For each kind, the folder that is nearest to the place of the work."""
    folders = folders_of(assignment.cwd.absolute()) if may_write(assignment.role) else ()
    places = ((kind, folder / ".claude" / kind) for folder in folders for kind in _KINDS)
    return {kind: place for kind, place in places if place.is_dir() and _is_within(folders[0], place)}


def _agents_md(assignment: Assignment) -> list[Path]:
    folders = folders_of(assignment.cwd.absolute())
    if any((folder / "CLAUDE.md").is_file() for folder in folders):
        return []
    files = [folder / "AGENTS.md" for folder in folders]
    return [file for file in files if file.is_file() and _is_within(folders[0], file)]


def _is_within(top: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(top.resolve())


def _text(file: Path) -> bytes:
    with file.open("rb") as content:
        return content.read(_MOST_BYTES)
