"""Shell commands that plainly write to a certain file, whatever the folder they name. In doubt they do not.

This is a fence, not a wall: it keeps an agent from the obvious mistake, and the file's own checks find the rest.
"""

from __future__ import annotations

import re

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
