"""The log of failed approaches, a file of the project: whoever comes next reads what need not be tried again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aotloop.core.phases.model import Phase
from aotloop.errors import Unavailable
from aotloop.imports.words import short

USUAL = "docs/progress.md"
LONGEST = 500

_HEADING = "# Progress\n\nWhat was tried and did not work, so that nobody tries it again.\n"


def note_failed(root: Path, file: str, approaches: Sequence[tuple[Phase, str]]) -> bool:
    """Appends what is not there yet; whether there was anything. What others wrote stays as it is."""
    path = root / file
    try:
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""
        known = set(before.splitlines())
        lines = dict.fromkeys(f"- {phase}: {short(text, LONGEST)}" for phase, text in approaches if text.strip())
        new = [line for line in lines if line not in known]
        if not new:
            return False
        text = before or _HEADING
        text += ("" if text.endswith("\n") else "\n") + ("\n" if not before else "") + "\n".join(new) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from error
    return True
