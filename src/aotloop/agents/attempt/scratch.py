"""Only this module knows the two folders of an attempt; nothing in them is older than the attempt.

One is open to the agent, for its answer and its temporary files, and is removed after the attempt. The other is ours:
prompt, results of others, transcript, and a copy of the answer. It is closed to the agent.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.agents.answers.extraction import MOST_BYTES
from aotloop.agents.contract import Assignment
from aotloop.deletion import remove_tree
from aotloop.errors import Unavailable
from aotloop.foreign_files import read_foreign, write_new

PROMPT = "prompt.md"
BINDINGS = "bindings.json"
RESULT = "result.json"
TRANSCRIPT = "transcript.jsonl"
_OF_AN_ATTEMPT = frozenset({PROMPT, BINDINGS, RESULT, TRANSCRIPT})


def prepare(assignment: Assignment) -> None:
    """A result that exists before the attempt begins belongs to another attempt, and is removed."""
    folder, ours = assignment.scratch, assignment.evidence
    try:
        for place in dict.fromkeys((folder, ours)):
            if not _made(place):
                there = os.listdir(place)  # noqa: PTH208 - names are enough
                for name in _OF_AN_ATTEMPT.intersection(there):
                    remove_tree(place / name)
        if assignment.prompt:
            (ours / PROMPT).write_text(assignment.prompt, encoding="utf-8", errors="replace")
        (ours / BINDINGS).write_bytes(msgspec.json.encode(assignment.bindings))
    except OSError as error:
        raise Unavailable(f"the folder of an attempt cannot be used: {folder}: {error.strerror}") from error


def keep_answer(assignment: Assignment) -> None:
    """Copies the agent's answer to our folder, for people. We have read it before, and do not read it again."""
    if assignment.records is not None:
        with suppress(OSError):
            write_new(assignment.records / RESULT, read_foreign(assignment.scratch / RESULT, MOST_BYTES))


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
