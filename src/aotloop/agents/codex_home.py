"""What of the operator's CODEX_HOME a worker is lent, where the operator says so: to read, not to change.

Codex writes into its config.toml whom it trusts, so that is a copy. Of a repository that it trusts it obeys settings
and runs programs; and whatever it is told to work in, it trusts, unless it is told otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

from aotloop.agents.folders import folders_of

_CONFIG = "config.toml"
_SESSIONS = "sessions"
_LENT = ("AGENTS.md", "AGENTS.override.md", "hooks.json", "hooks", "prompts", "rules", "skills")


def lend_settings(theirs: Path, home: Path) -> None:
    """What cannot be read is left out, as the client itself would do."""
    with contextlib.suppress(OSError):
        shutil.copyfile(theirs / _CONFIG, home / _CONFIG)
    for name in _LENT:
        if (theirs / name).exists():
            (home / name).symlink_to((theirs / name).absolute())


def bring_sessions(store: Path, home: Path) -> None:
    """The conversation to go on with, to where the client looks for it. If that fails, the client does not know it."""
    _copy(store / _SESSIONS, home / _SESSIONS)


def keep_sessions(home: Path, store: Path) -> None:
    """The conversation alone: the login that lies beside it does not outlive the attempt."""
    shutil.rmtree(store / _SESSIONS, ignore_errors=True)
    _copy(home / _SESSIONS, store / _SESSIONS)


def _copy(source: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, target, symlinks=True)


def distrust(cwd: Path) -> tuple[str, ...]:
    """The option by which nothing of this repository is obeyed. The client asks for it by the folder of the repository
    to which a worktree belongs.
    """
    folders = folders_of(cwd.absolute())
    paths = dict.fromkeys(os.fspath(one) for path in (*folders, *_owner(folders[0])) for one in (path, path.resolve()))
    table = ", ".join(f'{json.dumps(path)} = {{ trust_level = "untrusted" }}' for path in paths)
    return ("-c", f"projects={{ {table} }}")


def pointed_at_instructions(prompt: str, cwd: Path) -> str:
    """Those of a repository that it does not trust it does not read by itself."""
    has_any = any((folder / "AGENTS.md").is_file() for folder in folders_of(cwd.absolute()))
    return f"The repository's instructions are in AGENTS.md; read that first.\n\n{prompt}" if has_any else prompt


def _owner(top: Path) -> tuple[Path, ...]:
    """The checkout of which this is a worktree, if it is one."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        private = Path((top / ".git").read_text().removeprefix("gitdir:").strip())
        return (private.parent.parent.parent,) if private.parent.name == "worktrees" else ()
    return ()
