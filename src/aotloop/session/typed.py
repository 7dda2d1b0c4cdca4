"""What a person types to enter the loop, in the client that this runs in."""

from __future__ import annotations

import os

IN_CODEX = "CODEX_SESSION_ID"
"""Set for whatever Codex runs, and for nothing else."""


def to_type(words: str) -> str:
    command = "$aot-loop:source-command-enter-recursion" if os.environ.get(IN_CODEX) else "/aot-loop:enter-recursion"
    return f"`{command} {words}`"
