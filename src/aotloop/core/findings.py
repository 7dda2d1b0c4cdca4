"""Findings: what is wrong or doubtful in a file, at which key path and, if known, in which line and column."""

from __future__ import annotations

from typing import Literal

import msgspec

Path = tuple[str | int, ...]
"""Keys and list positions from the top of the file: ("atoms", 3, "depends_on", 0)."""


class Finding(msgspec.Struct, frozen=True):
    level: Literal["error", "warning"]
    path: Path
    message: str
    line: int | None = None
    column: int | None = None
    missing: bool = False
    """True if the finding is about a value that is absent or empty."""

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}: " if self.line is not None else ""
        return f"{where}{dotted(self.path)}: {self.message}" if self.path else f"{where}{self.message}"


def error(path: Path, message: str, *, missing: bool = False) -> Finding:
    return Finding("error", path, message, missing=missing)


def warning(path: Path, message: str) -> Finding:
    return Finding("warning", path, message)


def dotted(path: Path) -> str:
    """("atoms", 3, "depends_on", 0) → "atoms[3].depends_on[0]"."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
