"""Protected files: no task may change the state file, the phase file, their neighbours, or the objective's globs.

The rules are the same for a run, a session and a phase. A copy of these files in a worktree counts too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from aotloop.git.commits.attempt_commit import refuse
from aotloop.statefile.durable import our_files
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE
from aotloop.text.patterns import matching
from aotloop.text.phrases import listed


class Protection(msgspec.Struct, frozen=True, kw_only=True):
    patterns: tuple[str, ...] = ()
    """Relative to the project's root."""
    agreed: tuple[str, ...] = ()
    """Those of them that a person agreed on."""
    files: tuple[str, ...] = ()
    """Files and folders of the loop itself, from the project's root."""

    def refused(self, paths: Iterable[str], prefix: str) -> tuple[str, ...]:
        """The changed paths that are protected. `prefix`: from the repository's top to the project."""
        return refuse(paths, self.patterns, self.files, prefix)


NOTHING = Protection()

_FOLDERS = ("claude", "codex", "cursor", "devcontainer", "gemini", "husky", "idea", "opencode", "vscode")
_SETTINGS = (
    *(f"**/.{name}/**" for name in _FOLDERS),
    "**/.mcp.json",
    "**/opencode.json*",
    "**/.envrc",
    "**/.pre-commit-config.yaml",
    ".github/workflows/**",
    "aot.toml",
)
"""Files by which a client, an editor or a shell starts programs, with the rights of the person."""


def protection_of(patterns: Sequence[str], state_file: str, root: str) -> Protection:
    """`patterns`: the globs that the objective protects."""
    loops = (f"**/{STATE_FILE}", f"**/{PHASE_FILE}")
    return Protection(patterns=(*patterns, *loops), agreed=tuple(patterns), files=tuple(our_files(state_file, root)))


def settings_in(paths: Sequence[str]) -> tuple[str, ...]:
    """Those of the changed paths that programs of the person obey. They land, and the person is told."""
    return tuple(sorted(matching(list(paths), _SETTINGS)))


def words_for(refused: Sequence[str]) -> str:
    return f"it changed what no attempt may change: {listed(refused)}"
