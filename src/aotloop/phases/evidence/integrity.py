"""Integrity of the acceptance tests: byte for byte as agreed, in the checkout and in the commit.

Git has options to overlook changes. So this module compares the content of files, and finds files with such marks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from aotloop.core.phases.model import PhaseLoop, Receipt
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import AotError
from aotloop.foreign_tree import walk_foreign
from aotloop.git.repository import Repository
from aotloop.phases.project import Project, folders_of

_MOST_BYTES = 256 << 20
"""No file with more is committed, see `intake`."""

_MADE_BY_TESTS = "__pycache__"


def are_tests_untouched(project: Project, loop: PhaseLoop, receipt: Receipt | None = None) -> bool | None:
    """Since the receipt of spec_test: the given one, or the one on file. None: there is none."""
    agreed = receipt or receipt_of(loop, "spec_test")
    if agreed is None:
        return None
    try:
        return not any(_differences(project, agreed))
    except (AotError, OSError):
        return False


def _differences(project: Project, agreed: Receipt) -> Iterator[str]:
    places = (agreed.artifact, *folders_of(agreed.artifact))
    commit = project.commit(agreed.git_sha)
    blobs = _blobs(project, commit, places) if commit is not None else {}
    if not blobs:
        yield agreed.artifact
    now = _blobs(project, project.head(), places)
    yield from (path for path in {*blobs, *now} if blobs.get(path) != now.get(path))
    for path, blob in blobs.items():
        file = project.repository.top / path
        is_plain = file.is_file() and not file.is_symlink() and file.stat().st_size <= _MOST_BYTES
        if not is_plain or _bytes(project, blob) != _as_committed(file):
            yield path
    for folder in folders_of(agreed.artifact):
        yield from _strangers(project, folder, set(blobs), Path(agreed.artifact).suffix)


def _blobs(project: Project, commit: str, places: tuple[str, ...]) -> dict[str, str]:
    """By their paths in the repository."""
    wanted = [project.in_repository(place) for place in places]
    listed = project.repository.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *wanted).fields
    split = (entry.partition("\t") for entry in listed)
    return {path: facts.split(" ")[2] for facts, _, path in split}


def _strangers(project: Project, folder: str, known: set[str], suffix: str) -> Iterator[str]:
    """Other code beside the tests, committed or not, could change their effect."""
    found = (Path(place, name) for place, _, names in walk_foreign(project.root / folder) for name in names)
    for file in (file for file in found if file.name.endswith(suffix)):
        path = project.in_repository(file.relative_to(project.root).as_posix())
        if path not in known and _MADE_BY_TESTS not in file.parts:
            yield path


def _bytes(project: Project, blob: str) -> bytes:
    return project.repository.git("cat-file", "blob", blob).out.replace(b"\r\n", b"\n")


def _as_committed(file: Path) -> bytes:
    """Line ends depend on the checkout."""
    return file.read_bytes().replace(b"\r\n", b"\n")


_NOT_CHECKED_OUT = "S"
_REGULAR_FILE = "100"


def overlooked(repository: Repository) -> list[str]:
    """Files with `update-index --assume-unchanged` or `--skip-worktree`, without those outside a sparse checkout."""
    marked = [entry for entry in repository.git("ls-files", "-v", "-s", "-z").fields if _is_marked(entry)]
    looked_at: dict[str, str] = {}
    found: list[str] = []
    for entry in marked:
        facts, _, path = entry.partition("\t")
        tag, mode, blob, _ = facts.split(" ")
        file = repository.top / path
        if os.path.lexists(file):
            if mode.startswith(_REGULAR_FILE) and file.is_file() and not file.is_symlink() and "\n" not in path:
                looked_at[path] = blob
            else:
                found.append(path)
        elif tag.upper() != _NOT_CHECKED_OUT:
            found.append(path)
    return found + _changed(repository, looked_at)


def _is_marked(entry: str) -> bool:
    return entry[:1].islower() or entry[:1] == _NOT_CHECKED_OUT


def _changed(repository: Repository, blobs: dict[str, str]) -> list[str]:
    """Compares the content that git would commit, because line ends depend on the checkout."""
    if not blobs:
        return []
    asked = os.fsencode("".join(f"{path}\n" for path in blobs))
    now = repository.git("hash-object", "--stdin-paths", stdin=asked).text.split("\n")
    return [path for (path, blob), blob_now in zip(blobs.items(), now, strict=True) if blob != blob_now]
