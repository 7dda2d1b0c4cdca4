"""The location of the state file and of its project. Only the file of the main checkout counts."""

from __future__ import annotations

import os
from collections.abc import Mapping

from aotloop.errors import StateFileMissing

STATE_FILE = os.path.join(".claude", "aot-loop-state.md")
SHIP_STATE_FILE = os.path.join(".claude", "ship-aot-loop-state.md")
"""The loop over the steps of a feature, while `aot ship` does a phase as a graph."""
PHASE_FILE = os.path.join(".claude", "autonomous-loop.json")
VARIABLE = "AOT_STATE_FILE"


def find_state_file(given: str | None = None, *, start: str = ".", environ: Mapping[str, str] = os.environ) -> str:
    """The given file, or the file named by the environment, or the file found upwards from the current folder."""
    if named := given or environ.get(VARIABLE):
        return os.path.abspath(named)
    found = found_upwards(STATE_FILE, start)
    if found is None:
        raise StateFileMissing(
            f"there is no {STATE_FILE} in {os.path.abspath(start)} or above it",
            hint="`aot align` makes one, and agrees with you on what is to be achieved; --state-file names another.",
        )
    return found


def find_phase_file(start: str = ".") -> str:
    found = found_upwards(PHASE_FILE, start)
    if found is None:
        raise StateFileMissing(
            f"there is no {PHASE_FILE} in {os.path.abspath(start)} or above it",
            hint='`aot ship "FEATURE"` begins with a feature.',
        )
    return found


def found_upwards(name: str, start: str) -> str | None:
    folder = os.path.abspath(start)
    while True:
        candidate = os.path.join(_main_checkout(folder) or folder, name)
        if os.path.isfile(candidate):
            refuse_if_foreign(candidate)
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def refuse_if_foreign(path: str) -> None:
    """Refuses a file that another user left in a folder above, for example in the machine's temporary folder.

    As for git: the file and its folders must be the user's own; for root, also those of the user that called `sudo`.
    """
    ours = {os.geteuid()}
    if os.geteuid() == 0 and (caller := os.environ.get("SUDO_UID", "")).isdecimal():
        ours.add(int(caller))
    for place in (path, os.path.dirname(path), project_root(path)):
        owners = {os.stat(place).st_uid, os.lstat(place).st_uid}
        if not owners <= ours:
            raise StateFileMissing(
                f"{path} is not used: {place if place != path else 'the file'} belongs to another user",
                hint="If you trust that user, name the file with --state-file; else work in a folder of your own.",
            )


def new_state_file(given: str | None = None, *, environ: Mapping[str, str] = os.environ) -> str:
    """Where a new file goes: the named place, else the current folder, or its main checkout if it is a worktree."""
    return os.path.abspath(given or environ.get(VARIABLE) or _new(STATE_FILE))


def new_phase_file() -> str:
    return os.path.abspath(_new(PHASE_FILE))


def _new(name: str) -> str:
    folder = os.getcwd()
    return os.path.join(_main_checkout(folder) or folder, name)


def project_root(state_file: str) -> str:
    """The project folder, where checks run: the folder that contains `.claude`, else the folder of the state file."""
    folder = os.path.dirname(os.path.abspath(state_file))
    return os.path.dirname(folder) if os.path.basename(folder) == ".claude" else folder


def _main_checkout(folder: str) -> str | None:
    """The main checkout, if this folder is the top of a linked git worktree, whose copy of the file does not count."""
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8") as pointer:
            gitdir = pointer.readline().removeprefix("gitdir:").strip()
    except (OSError, UnicodeDecodeError):
        return None
    common, name = os.path.split(os.path.dirname(os.path.normpath(os.path.join(folder, gitdir))))
    is_linked = name == "worktrees" and os.path.basename(common) == ".git"  # a bare repository has no main checkout
    return os.path.dirname(common) if is_linked else None
