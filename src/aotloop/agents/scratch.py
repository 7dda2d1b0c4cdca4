"""Only this module knows what lies in an attempt's own folder; nothing in it is older than the attempt."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from aotloop.agents.contract import Assignment
from aotloop.errors import Unavailable

PROMPT = "prompt.md"
BINDINGS = "bindings.json"
RESULT = "result.json"
TRANSCRIPT = "transcript.jsonl"


def prepare(assignment: Assignment) -> None:
    """A result that is there before the attempt began is another's, and is taken away."""
    folder = assignment.scratch
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (PROMPT, BINDINGS, RESULT, TRANSCRIPT):
            _remove(folder / name)
        (folder / PROMPT).write_text(assignment.prompt, encoding="utf-8", errors="replace")
        (folder / BINDINGS).write_bytes(msgspec.json.encode(assignment.bindings))
    except OSError as error:
        raise Unavailable(f"the folder of an attempt cannot be used: {folder}: {error.strerror}") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
