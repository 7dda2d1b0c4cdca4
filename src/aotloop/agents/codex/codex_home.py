"""The parts of the operator's CODEX_HOME that a worker may read, if the operator allows it; it changes none.

Codex writes the folders that it trusts into its config.toml, so the worker gets a copy. In a trusted repository Codex
follows settings and runs programs. It trusts every folder in which it works, unless an option forbids it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

from aotloop.agents.client.folders import folders_of
from aotloop.deletion import discard_tree
from aotloop.foreign_tree import copy_plain_files

_CONFIG = "config.toml"
_SESSIONS = "sessions"
_MOST_BYTES = 200_000_000
_LENT = ("AGENTS.md", "AGENTS.override.md", "hooks.json", "hooks", "prompts", "rules", "skills")


def lend_settings(theirs: Path, home: Path) -> None:
    """Files that cannot be read are left out, as the client itself would do."""
    with contextlib.suppress(OSError):
        shutil.copyfile(theirs / _CONFIG, home / _CONFIG)
    for name in _LENT:
        if (theirs / name).exists():
            (home / name).symlink_to((theirs / name).absolute())


def bring_sessions(store: Path, home: Path) -> None:
    """Copies the conversation to the client's folder. If that fails, the client does not know the conversation."""
    _copy(store / _SESSIONS, home / _SESSIONS)


def keep_sessions(home: Path, store: Path) -> None:
    """Keeps only the conversation: the login beside it does not outlive the attempt."""
    discard_tree(store / _SESSIONS)
    _copy(home / _SESSIONS, store / _SESSIONS)


def _copy(source: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        if source.is_dir() and not source.is_symlink():
            copy_plain_files(source, target, _MOST_BYTES)


def distrust(cwd: Path) -> tuple[str, ...]:
    """The option with which Codex follows no settings of this repository.

    The client looks it up by the folder of the repository to which a worktree belongs.
    """
    folders = folders_of(cwd.absolute())
    paths = dict.fromkeys(
        os.fspath(form) for path in (*folders, *_owner(folders[0])) for form in (path, path.resolve())
    )
    table = ", ".join(f'{json.dumps(path)} = {{ trust_level = "untrusted" }}' for path in paths)
    return ("-c", f"projects={{ {table} }}")


def pointed_at_instructions(prompt: str, cwd: Path) -> str:
    """Codex does not read the instructions of an untrusted repository by itself."""
    has_any = any((folder / "AGENTS.md").is_file() for folder in folders_of(cwd.absolute()))
    return f"The repository's instructions are in AGENTS.md; read that first.\n\n{prompt}" if has_any else prompt


def _owner(top: Path) -> tuple[Path, ...]:
    """The checkout to which this worktree belongs, if it is a worktree."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        private = Path((top / ".git").read_text().removeprefix("gitdir:").strip())
        return (private.parent.parent.parent,) if private.parent.name == "worktrees" else ()
    return ()
