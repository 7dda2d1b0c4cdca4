"""The difference that one commit makes, file by file, as text. Nothing of the repository's configuration can run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

import msgspec

from aotloop.git.commits.objects import changes
from aotloop.git.repository import Repository

MOST_FILES = 500
MOST_OF_A_FILE = 200_000
"""Characters of one file's patch; the rest is left out, and `is_cut` says so."""

_STARTS = re.compile(r"^diff --git ", re.MULTILINE)
_WITHOUT_PROGRAMS = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


class FileDiff(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    change: str
    """added, removed or changed."""
    added: int = 0
    removed: int = 0
    """Lines; both are 0 for a binary file."""
    patch: str = ""
    """From `diff --git` on, as `git apply` reads it."""
    is_cut: bool = False


def diff_of(repository: Repository, commit: str) -> tuple[FileDiff, ...]:
    """Compared with its first parent; with nothing, if it has none."""
    raw = repository.git("diff-tree", "-r", "-z", "--raw", "--root", "--no-commit-id", "--no-renames", commit)
    found = list(changes(raw.fields))[:MOST_FILES]
    patches = _patches(repository, commit)
    return tuple(
        _file(change.path, change.mode_before, change.mode, patch)
        for change, patch in zip(found, patches, strict=False)
    )


def _patches(repository: Repository, commit: str) -> Iterator[str]:
    """One for each changed file, in the order of `--raw`. A file that became a link, say, has two parts."""
    done = repository.git("diff-tree", "-p", "--root", "--no-commit-id", *_WITHOUT_PROGRAMS, commit)
    text = done.out.decode("utf-8", "replace")
    starts = [match.start() for match in _STARTS.finditer(text)]
    parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    for _, same in groupby(parts, lambda part: part.partition("\n")[0]):
        yield "".join(same)


def _file(path: str, mode_before: str, mode: str, patch: str) -> FileDiff:
    change = "added" if not int(mode_before, 8) else "removed" if not int(mode, 8) else "changed"
    body = patch.partition("\n@@")[2].split("\n")
    return FileDiff(
        path=path.encode("utf-8", "replace").decode(),
        change=change,
        added=sum(line.startswith("+") for line in body),
        removed=sum(line.startswith("-") for line in body),
        patch=patch[:MOST_OF_A_FILE],
        is_cut=len(patch) > MOST_OF_A_FILE,
    )


def commit_at(repository: Repository, name: str) -> str | None:
    """The commit with this name or id; None: there is none any more."""
    done = repository.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", accept=())
    return done.text if done.code == 0 else None
