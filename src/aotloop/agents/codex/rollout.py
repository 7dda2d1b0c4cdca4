"""The rollout of a conversation: only this module reads it. Codex writes into it, while it works, what was used by now.

Its events on standard output tell that at the end of a turn, which is the end of an attempt. A rollout is not an
interface: an unexpected form counts as no information.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from aotloop.agents.attempt.usage import highest, total
from aotloop.agents.contract import Tokens
from aotloop.foreign_tree import walk_foreign

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 4_000_000
_MOST_AT_ONCE = 50
"""Chunks in one look. A file of holes has no end that could be waited for."""
_MOST_TOKENS = 2**53
"""A larger number is a mistake, not a count."""


class Rollouts:
    """Those of one CODEX_HOME: of the conversation, and of the conversations of its helpers."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "sessions"
        self._files: dict[str, _Rollout] = {}
        self._is_first_look = True

    def tokens(self) -> Tokens | None:
        """What all conversations that went on since the first look have used, from their beginning."""
        is_first, self._is_first_look = self._is_first_look, False
        for folder, _, names in walk_foreign(self._folder):
            for name in names:
                if name.endswith(".jsonl"):
                    self._files.setdefault(f"{folder}/{name}", _Rollout(f"{folder}/{name}"))
        for file in self._files.values():
            file.look(is_old=is_first)
        used = [file.tokens for file in self._files.values() if file.tokens is not None and file.goes_on]
        return total(used) if used else None


class _Rollout:
    def __init__(self, path: str) -> None:
        self._path = path
        self._offset = 0
        self._rest = b""
        self.tokens: Tokens | None = None
        self.goes_on = False

    def look(self, *, is_old: bool) -> None:
        with suppress(OSError):
            descriptor = os.open(self._path, _FILE)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    for _ in range(_MOST_AT_ONCE):
                        if not (chunk := os.pread(descriptor, _CHUNK, self._offset)):
                            break
                        self._offset += len(chunk)
                        self._take(chunk, is_old=is_old)
            finally:
                os.close(descriptor)

    def _take(self, chunk: bytes, *, is_old: bool) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > _CHUNK:  # no line that counts is so long
            self._rest = b""
        for line in lines:
            used = _counted(line) if b'"token_count"' in line else None
            if used is not None:
                self.tokens = highest(self.tokens, used) if self.tokens is not None else used
                self.goes_on = self.goes_on or not is_old


def _counted(line: bytes) -> Tokens | None:
    try:
        used = json.loads(line)["payload"]["info"]["total_token_usage"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return tokens_in(used)


def tokens_in(usage: Any) -> Tokens | None:
    """As Codex counts: the input includes tokens from the cache."""
    if not isinstance(usage, dict):
        return None
    count = {key: value for key, value in usage.items() if isinstance(value, int) and 0 <= value < _MOST_TOKENS}
    cached, written = count.get("cached_input_tokens", 0), count.get("cache_write_input_tokens", 0)
    return Tokens(
        input=max(0, count.get("input_tokens", 0) - cached - written),
        output=count.get("output_tokens", 0),
        cache_read=cached,
        cache_write=written,
    )
