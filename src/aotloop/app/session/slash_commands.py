"""What a person types to enter a loop, or to decide about one, in the client that this runs in."""

from __future__ import annotations

import os

IN_CODEX = "CODEX_SESSION_ID"
"""Codex sets it for all its commands; other programs do not set it."""


def to_type(words: str) -> str:
    return _typed("enter-recursion", words)


def to_ship(words: str) -> str:
    return _typed("ship", words)


def _typed(command: str, words: str) -> str:
    prefix = "$aot-loop:source-command-" if os.environ.get(IN_CODEX) else "/aot-loop:"
    return f"`{prefix}{command} {words}`"
