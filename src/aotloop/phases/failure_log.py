"""The log of failed approaches, a file of the project. The next agent reads what need not be tried again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aotloop.core.phases.model import Phase
from aotloop.errors import Unavailable
from aotloop.text.shorten import short_line

USUAL = "docs/progress.md"
LONGEST = 500

_HEADING = "# Progress\n\nWhat was tried and did not work. Do not try it again.\n"


def note_failed(root: Path, file: str, approaches: Sequence[tuple[Phase, str]]) -> bool:
    """Appends entries that are not there yet; returns whether there were any. Other text stays as it is."""
    path = root / file
    inside = _inside(root, file)
    if inside is None or inside[:1] == (".git",):
        raise Unavailable(f"{file!r} is not a file of the project, so nothing is written to it")
    try:
        if path.exists() and not path.is_file():
            raise Unavailable(f"{path} is not a regular file, so nothing is written to it")
        before = path.read_bytes().decode("utf-8", "surrogateescape") if path.is_file() else ""
        known = set(before.splitlines())
        lines = dict.fromkeys(f"- {phase}: {short_line(text, LONGEST)}" for phase, text in approaches if text.strip())
        new = [line for line in lines if line not in known]
        if not new:
            return False
        text = ("" if before.endswith("\n") else "\n") if before else f"{_HEADING}\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as opened:  # appending loses no line, even if we are killed or another process writes
            opened.write("".join([text, *(f"{line}\n" for line in new)]).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from error
    return True


def _inside(root: Path, file: str) -> tuple[str, ...] | None:
    """Names that lead to it from the project's root, with all links followed; None: it is elsewhere."""
    try:
        return (root / file).resolve().relative_to(root.resolve()).parts
    except (ValueError, OSError, RuntimeError):  # elsewhere, not a path, links in a circle
        return None
