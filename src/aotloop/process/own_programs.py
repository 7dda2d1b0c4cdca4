"""Programs that we start ourselves, without a fence: git, the engines of the sandbox, clients that confine themselves.

Agents and checks can put a program of the same name into a folder of PATH: the build folders of a project
(`.venv/bin`, `node_modules/.bin`) are open to checks. So these folders are left out, and each program is looked for
once: what appears later on PATH is not started.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache

_OWN = ("git", "git-lfs", "bwrap", "srt", "socat", "rg", "node")
"""All of them are found together, before the first one is started, and so before the first attempt."""
_OF_A_LOOP = (".aot", ".claude")
_HOMEBREW = ("/opt/homebrew", "/home/linuxbrew/.linuxbrew", "/usr/local")


def own_program(name: str, env: Mapping[str, str] = os.environ) -> str | None:
    """Its full path; None: it is not installed outside of projects."""
    path = env.get("PATH", os.defpath)
    return _all_own(path)[name] if name in _OWN else _found(name, path)


def is_own(program: str) -> bool:
    """Whether this path leads to a program that lies in no project, or beside aotloop itself."""
    ours = {sys.prefix, os.path.realpath(sys.prefix)}
    paths = {os.path.normpath(program), os.path.realpath(program)}
    return all(any(_is_at_or_in(path, place) for place in ours) or not _is_of_a_project(path) for path in paths)


def own_path(env: Mapping[str, str] = os.environ) -> str:
    """PATH for such a program: without the folders that agents or checks can write to."""
    return _safe(env.get("PATH", os.defpath))


@cache
def _all_own(path: str) -> dict[str, str | None]:
    return {name: _found(name, path) for name in _OWN}


@cache
def _found(name: str, path: str) -> str | None:
    for folder in _safe(path).split(os.pathsep):
        program = f"{folder}/{name}"
        if os.path.isfile(program) and os.access(program, os.X_OK) and not _is_of_a_project(os.path.realpath(program)):  # noqa: PTH113 - texts throughout: hooks start fast
            return program
    return None


@cache
def _safe(path: str) -> str:
    return os.pathsep.join(folder for folder in dict.fromkeys(path.split(os.pathsep)) if _is_safe(folder))


def _is_safe(folder: str) -> bool:
    """A relative folder is one of the project, wherever we are."""
    return folder.startswith("/") and not any(
        map(_is_of_a_project, (os.path.normpath(folder), os.path.realpath(folder)))
    )


def _is_of_a_project(path: str) -> bool:
    """It lies in a checkout, in a project with a loop, or among our worktrees. A home is no project."""
    named = os.path.expanduser("~")  # noqa: PTH111 - never raises
    home = os.path.realpath(named)
    cache_ = os.path.realpath(f"{os.environ.get('XDG_CACHE_HOME') or f'{home}/.cache'}/aot")
    while path not in {"/", ""}:
        if path == cache_:
            return True
        if not any(_is_at_or_in(each, path) for each in (named, home)) and _is_project(path, (named, home)):
            return True
        path = os.path.dirname(path)  # noqa: PTH120 - as above
    return False


def _is_project(folder: str, homes: Iterable[str]) -> bool:
    """A clone without a loop that is hidden in the home holds tools, as those of nvm, pyenv and asdf do."""
    if any(os.path.lexists(f"{folder}/{name}") for name in _OF_A_LOOP):
        return True
    has_tools = folder in _HOMEBREW or any(folder.startswith(f"{home.rstrip('/')}/.") for home in homes)
    clone = f"{folder}/.git"
    return os.path.lexists(clone) and not (has_tools and os.path.isdir(clone))  # noqa: PTH112 - a worktree has a file


def _is_at_or_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")
