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
    """A result that exists before the attempt begins belongs to another attempt, and is removed."""
    folder = assignment.scratch
    try:
        if not _made(folder):
            for name in (PROMPT, BINDINGS, RESULT, TRANSCRIPT):
                _remove(folder / name)
        if assignment.prompt:
            (folder / PROMPT).write_text(assignment.prompt, encoding="utf-8", errors="replace")
        (folder / BINDINGS).write_bytes(msgspec.json.encode(assignment.bindings))
    except OSError as error:
        raise Unavailable(f"the folder of an attempt cannot be used: {folder}: {error.strerror}") from error


def _made(folder: Path) -> bool:
    """Whether the folder is new, and therefore empty."""
    try:
        folder.mkdir()
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        return False
    except FileExistsError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
