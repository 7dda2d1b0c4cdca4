"""File checks: only this module searches the files of a check. An unreadable place never counts as absent.

A path is first tried as it stands (`app/[id].tsx` is a file's name), then as a pattern (see `text.patterns`).
`file` wants something that exists: a symbolic link to nothing does not. `not_file` wants nothing at all:
such a link is something. A trailing slash asks for a directory.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from aotloop.checks.results import CheckResult
from aotloop.process.cancellation import Cancellation
from aotloop.text.patterns import has_wildcard, parse

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_EXAMPLES = 3
_ENOUGH = 1000
"""Matches are counted up to this number. More would not change the verdict, and would cost a full walk."""

_EXISTS = re.compile(r"\A\s*exists:")

_Entry = os.DirEntry[str] | None
_Target = Literal["directory", "file", "dangling", "absent"]


def check_file(
    path: str, *, root: Path, expect_missing: bool = False, cancellation: Cancellation | None = None
) -> CheckResult:
    text = _EXISTS.sub("", path).strip()
    search = _Search(str(root), text, cancellation or Cancellation())
    problem = _problem(text, root)
    if problem is None:
        search.run()
    decided = problem is None and not search.obstacles
    found = search.count > 0
    nothing = decided and not found and not search.dangling
    return CheckResult(
        name=path,
        kind="not_file" if expect_missing else "file",
        passed=nothing if expect_missing else found,
        evidence=problem or search.evidence(expect_missing=expect_missing),
        value=path,
        path=text,
        exists=found if found or decided else None,
    )


def _problem(text: str, root: Path) -> str | None:
    """Why there is no valid path, or no place to search."""
    if not text:
        return "the path is blank"
    if "\0" in text:
        return "the path contains a NUL character"
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return "the path contains characters that no file name can have"
    if not root.is_dir():
        return f"could not be decided: there is no directory {root}"
    if has_wildcard(text) and (name := parse(text).unsearched_name()):
        return f"could not be decided: {name} is never searched; name the file without wildcards"
    return None


class _Search:
    def __init__(self, root: str, text: str, cancellation: Cancellation) -> None:
        self._text = text
        self._pattern = parse(text)
        self._base = "/" if self._pattern.is_absolute else root
        self._cancellation = cancellation
        self.count = 0
        self.examples: list[str] = []
        self.dangling: list[str] = []
        self.misfits: list[str] = []
        self.obstacles: list[str] = []

    def run(self) -> None:
        self._consider(os.path.join(self._base, self._text.rstrip("/")), None)  # noqa: PTH118 - text throughout
        if has_wildcard(self._text) and not self.count and not self.dangling:
            self._walk()

    def _walk(self) -> None:
        """Visits each directory once, in the order of names, without recursion for deep trees."""
        pending = [(self._base, self._pattern.start())]
        while pending and self.count < _ENOUGH:
            if self._cancellation.cancelled:
                self.obstacles.append("cancelled")
                return
            directory, states = pending.pop()
            below = []
            for path, name, entry in self._entries(directory, states):
                is_link = os.path.islink(path) if entry is None else entry.is_symlink()  # noqa: PTH114
                after = self._pattern.step(states, name, is_link=is_link)
                if self._pattern.is_end(after):
                    self._consider(path, entry)
                if self._pattern.goes_on(after) and self._target(path, entry) == "directory":
                    below.append((path, after))
            pending += reversed(below)

    def _entries(self, directory: str, states: frozenset[int]) -> Iterator[tuple[str, str, _Entry]]:
        listed: list[os.DirEntry[str]] = []
        # Plain names need no listing, and so no permission to list.
        spelled = self._pattern.spelled_out(states)
        if self._pattern.needs_listing(states):
            spelled &= {".."}
            try:
                with os.scandir(directory) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._note_obstacle(directory, error)
        for name in sorted(spelled):
            yield os.path.join(directory, name), name, None  # noqa: PTH118
        for entry in listed:
            yield entry.path, entry.name, entry

    def _consider(self, path: str, entry: _Entry) -> None:
        target = self._target(path, entry)
        if target == "dangling":
            self.dangling.append(self._shown(path))
        elif target == "file" and self._pattern.directories_only:
            self.misfits.append(self._shown(path))
        elif target != "absent":
            self.count += 1
            if self.count <= _EXAMPLES:
                self.examples.append(self._shown(path))

    def _target(self, path: str, entry: _Entry) -> _Target:
        """The target of a name. If it cannot be determined, that is recorded, and nothing is found there."""
        try:
            if entry is not None and not entry.is_symlink():
                return "directory" if entry.is_dir() else "file"
            return "directory" if stat.S_ISDIR(os.stat(path).st_mode) else "file"  # noqa: PTH116
        except OSError as error:
            if error.errno not in _ABSENT:
                self._note_obstacle(path, error)
                return "absent"
            return "dangling" if os.path.islink(path) else "absent"  # noqa: PTH114

    def _note_obstacle(self, path: str, error: OSError) -> None:
        if error.errno not in _ABSENT:  # otherwise it disappeared during the search
            self.obstacles.append(f"{self._shown(path)}: {error.strerror}")

    def _shown(self, path: str) -> str:
        """Relative if the pattern is relative. A name that is not UTF-8 is escaped, so that it can be printed."""
        relative = path if self._text.startswith("/") else path.removeprefix(f"{self._base}/")
        return os.fsencode(relative).decode("utf-8", "replace")

    def evidence(self, *, expect_missing: bool) -> str:
        parts = []
        if self.count == 1:
            parts.append(f"found {self.examples[0]}")
        elif self.count:
            number = f"at least {self.count}" if self.count >= _ENOUGH else str(self.count)
            more = ", …" if self.count > len(self.examples) else ""
            parts.append(f"found {number} matches: {', '.join(self.examples)}{more}")
        elif self.obstacles:
            parts.append(f"could not be decided: {self.obstacles[0]}")
        if self.dangling and (expect_missing or not self.count):
            parts.append(f"{self.dangling[0]} is a symbolic link to nothing")
        if self.misfits and not self.count:
            parts.append(f"{self.misfits[0]} is not a directory")
        if expect_missing and (self.count or self.dangling):
            parts.append("nothing should be there")
        return "; ".join(parts) or f"nothing is there: {self._shown(self._text)}"
