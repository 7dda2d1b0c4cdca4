"""Write targets: the file that a tool or a shell command will write. In doubt, a shell command writes none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import msgspec

from aotloop.statefile.durable import beside
from aotloop.statefile.locate import project_root

_ALWAYS = frozenset({"tee", "rm", "unlink", "truncate", "shred", "mv", "ed", "ex", "vi", "vim", "nano", "touch"})
_WHERE_LAST = frozenset({"cp", "install", "ln", "rsync"})
_IN_PLACE = frozenset({"sed", "gsed", "perl", "ruby"})
_OF_GIT = frozenset({"checkout", "restore", "rm", "mv", "clean"})
_BEFORE = frozenset({"sudo", "env", "command", "exec", "nohup", "time", "xargs", "then", "do", "else", "!", "{", "("})
_INTERPRETERS = re.compile(r"\b(?:python[0-9.]*|node|ruby|perl|deno|bun)\b[^|;&\n]*?\s(?:-\s|-c\b|-e\b|<<|-$)")
_WRITING = re.compile(
    r"\bwrite|\bunlink|\bremove\(|\brename|\breplace\(|\btruncate|\bcopy|\bmove\(|['\"][wax]\+?b?\+?['\"]|\.dump\("
)
_LONGEST = 100_000


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A file that will be written, after links were followed."""

    inside: tuple[str, ...]
    """Its path in the project, and in every worktree or submodule that contains it."""
    is_state_file: bool = False
    """Or the log that belongs to it."""


def writes_to(command: str, name: str) -> bool:
    command = command[:_LONGEST]
    if not name or name not in command:
        return False
    if re.search(rf">\|?\s*['\"]?[^\s'\";|&<>]*{re.escape(name)}", command):
        return True
    if _INTERPRETERS.search(command) and _WRITING.search(command):
        return True
    return any(_part_writes(part.split(), name) for part in re.split(r"\|\||&&|[;|&\n]|\$\(|`", command))


def _part_writes(words: list[str], name: str) -> bool:
    while words and (words[0] in _BEFORE or ("=" in words[0] and not words[0].startswith("of="))):
        words = words[1:]
    named = [word.strip("'\")}") for word in words if name in word]
    if not named or not words:
        return False
    program = words[0].rpartition("/")[2]
    if program in _ALWAYS:
        return True
    if program in _WHERE_LAST:
        return words[-1].strip("'\")}").endswith(name)
    if program in _IN_PLACE:
        return any(word.startswith(("-i", "--in-place")) or re.fullmatch(r"-[a-zA-Z]*i\S*", word) for word in words)
    if program == "dd":
        return any(word.startswith("of=") for word in named)
    return program == "git" and any(word in _OF_GIT for word in words[1:])


def target(path: str, cwd: str, state_file: str) -> Target:
    """`state_file` is a real path without links."""
    real = os.path.realpath(os.path.join(cwd, path))
    tops = [os.path.realpath(project_root(state_file)), *_tops_above(real)]
    inside = tuple(dict.fromkeys(os.path.relpath(real, top) for top in tops))
    is_state_file = _is_same(real, state_file) or _is_same(real, beside(state_file, "log"))
    return Target(inside=inside, is_state_file=is_state_file)


def _tops_above(real: str) -> Iterator[str]:
    """Worktrees and submodules have a file as `.git`. In a worktree, the project's files have other paths."""
    folder = os.path.dirname(real)
    while folder != os.path.dirname(folder):
        if os.path.isfile(os.path.join(folder, ".git")):
            yield folder
        folder = os.path.dirname(folder)


def _is_same(real: str, state_file: str) -> bool:
    """Ignores case if the file system does."""
    if real == state_file:
        return True
    try:
        return os.path.samefile(real, state_file)
    except OSError:
        return False
