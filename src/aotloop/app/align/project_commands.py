"""Commands that a project uses to test itself, found in its own files: proposals for checks. Nothing is run here.

The files are a repository's, so they are data: regular files of a bounded size, and only one-line commands.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

LARGEST = 1_000_000
"""Bytes of a file that is looked at."""
MOST = 6
_LONGEST = 120
_TESTS = re.compile(r"\b(test|tests|pytest|check|tox|nox|lint|vitest|jest|rspec|ctest)\b")
_TARGET = re.compile(r"^(test|tests|check)\s*:(?!=)", re.MULTILINE)
_EMPTY_TEST = "no test specified"
"""What `npm init` writes."""


class ProjectCommand(msgspec.Struct, frozen=True):
    command: str
    source: str
    """The file that names it, relative to the project."""


def project_commands(root: Path) -> list[ProjectCommand]:
    """The best guess first; none twice."""
    found: dict[str, ProjectCommand] = {}
    for name, commands_in in _FILES.items():
        for path in sorted(root.glob(name)):
            text = _text(path)
            for command in commands_in(text) if text is not None else ():
                source = path.relative_to(root).as_posix()
                found.setdefault(command, ProjectCommand(command, source))
    return list(found.values())[:MOST]


def _text(path: Path) -> str | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _makefile(text: str) -> Iterator[str]:
    yield from (f"make {target}" for target in dict.fromkeys(_TARGET.findall(text)))


def _pyproject(text: str) -> Iterator[str]:
    try:
        tools = tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return
    if isinstance(tools, dict) and ("pytest" in tools or "pytest" in text):
        yield "python -m pytest -q"


def _package(text: str) -> Iterator[str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    scripts = data.get("scripts") if isinstance(data, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and _EMPTY_TEST not in script:
        yield "npm test"


def _always(command: str) -> Callable[[str], Iterator[str]]:
    return lambda _: iter((command,))


def _workflow(text: str) -> Iterator[str]:
    """Lines of `run:` and `script:` that look like tests."""
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for line in _lines(data, 0):
        if len(line) <= _LONGEST and line.isprintable() and "$" not in line and _TESTS.search(line):
            yield line


def _lines(data: Any, depth: int) -> Iterator[str]:
    if depth > 12:
        return
    if isinstance(data, dict):
        for key, value in data.items():
            if key in {"run", "script"}:
                yield from _commands(value)
            else:
                yield from _lines(value, depth + 1)
    elif isinstance(data, list):
        for value in data:
            yield from _lines(value, depth + 1)


def _commands(value: Any) -> Iterator[str]:
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if isinstance(text, str):
            lines = [line.strip() for line in text.strip().splitlines()]
            yield from lines if not any(line.endswith("\\") for line in lines) else ()


_FILES: dict[str, Callable[[str], Iterator[str]]] = {
    "Makefile": _makefile,
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "tox.ini": _always("tox"),
    "Cargo.toml": _always("cargo test"),
    "go.mod": _always("go test ./..."),
    "pom.xml": _always("mvn -q test"),
    ".github/workflows/*.yml": _workflow,
    ".github/workflows/*.yaml": _workflow,
    ".gitlab-ci.yml": _workflow,
}
