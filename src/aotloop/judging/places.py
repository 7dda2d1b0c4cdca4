"""Whether there is such a place: what a judge quotes as `file:line` has to be a line of a file that it was to judge."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from pathlib import Path

_LINE = re.compile(r":(?:L|line )?(\d{1,7})\b")
_BEGINNING = re.compile(r"[^\s\"'`()\[\]{}<>,;:|*]")
"""Of a path: any other character may come before one."""
_LONGEST_PATH = 300
_MOST_LOOKED_AT = 200


def places_in(text: str, files: Container[str], root: Path) -> tuple[str, ...]:
    """Those that are there, as `file:line` and each once. `files` are paths from `root`."""
    found: dict[str, None] = {}
    for number, match in enumerate(_LINE.finditer(text)):
        if number == _MOST_LOOKED_AT:
            break
        line = int(match[1])
        path = next((one for one in _paths_before(text, match.start(), root) if one in files), None)
        if path is not None and _has_line(root / path, line):
            found[f"{path}:{line}"] = None
    return tuple(found)


def _paths_before(text: str, end: int, root: Path) -> Iterator[str]:
    """What could be a path that ends here, the shortest first: names may have spaces in them."""
    beginning = max(text.rfind("\n", 0, end) + 1, end - _LONGEST_PATH)
    for start in range(end - 1, beginning - 1, -1):
        is_first = start == 0 or not _BEGINNING.match(text[start - 1])
        if is_first and _BEGINNING.match(text[start]):
            path = text[start:end].rstrip("\"'`*")
            yield path.removeprefix(f"{root}/").removeprefix("./")


def _has_line(path: Path, line: int) -> bool:
    """A link leads elsewhere, and says nothing about what is judged."""
    if line < 1 or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return any(number == line for number, _ in enumerate(file, 1))
    except OSError:
        return False
