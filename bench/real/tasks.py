"""Tasks: three wordings, a reference and a check; and whether a code passes its check, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parent
SECONDS = 5


class RealTask(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    file: str
    difficulty: int
    phrasings: tuple[str, str, str]
    reference: str
    check: str
    module: str = ""
    """What the file holds before, for an edit."""


@cache
def tasks() -> tuple[RealTask, ...]:
    return msgspec.json.decode((FOLDER / "tasks.json").read_bytes(), type=tuple[RealTask, ...])


def question(task: RealTask, wording: int) -> str:
    if not task.module:
        return f"{task.phrasings[wording]} Answer with Python code only, in one ```python block."
    return (
        f"{task.phrasings[wording]}\n\n```{task.file}\n{task.module.rstrip()}\n```\n"
        f"Answer with the whole file {task.file}, in one ```python block."
    )


def code_in(answer: str) -> str:
    found = re.search(r"```[^\n]*\n(.*?)(?:```|\Z)", answer, re.DOTALL)
    return (found[1] if found is not None else answer).rstrip() + "\n"


def passes(task: RealTask, code: str) -> bool:
    """The check runs in a process of its own; what does not end has not passed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "checked.py")
        file.write_text(f"{code}\n{task.check}", encoding="utf-8", errors="replace")
        try:
            done = subprocess.run(
                [sys.executable, "-I", str(file)], cwd=folder, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0
