"""Paths whose content a filter of the person converts, such as one that encrypts.

A filter is a program, and it may be a file of the project. So none runs for the files of an agent, and a change of a
path that one is responsible for is refused: its plain content would land. Git-lfs is the exception, see
`pinned_settings`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from aotloop.git.command import git
from aotloop.git.objects import Change
from aotloop.git.work_tree import WorkTree

_RUNS = ("clean", "smudge", "process")
_BASE_INDEX = "base-index"
_NO_FILTER = frozenset({"unspecified", "unset", "set", "lfs"})


def governed_paths(tree: WorkTree, base: str, taken: Iterable[Change]) -> list[tuple[str, str]]:
    """Path and filter of the changes that one is responsible for, by the attributes before or after."""
    names = set(_filters(tree))
    paths = [change.path for change in taken]
    if not names or not paths:
        return []
    before = tree.own / _BASE_INDEX
    place = tree.place
    at_base = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", str(before))))
    try:
        git(at_base, "read-tree", base)
        found = [*_attributes(tree, str(before), paths), *_attributes(tree, None, paths)]
    finally:
        before.unlink(missing_ok=True)
    return [(path, name) for path, name in found if name in names]


def _filters(tree: WorkTree) -> Iterator[str]:
    for setting in tree.repository.settings:
        section, _, rest = setting.key.partition(".")
        name, _, key = rest.rpartition(".")
        if section == "filter" and key in _RUNS and setting.value and name not in _NO_FILTER:
            yield name


def _attributes(tree: WorkTree, index: str | None, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """As the `.gitattributes` in the index say; the files in the folder are not read."""
    place = tree.place
    if index is not None:
        place = replace(place, variables=(*place.variables, ("GIT_INDEX_FILE", index)))
    listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    fields = iter(git(place, "check-attr", "--cached", "-z", "--stdin", "filter", stdin=listed).fields)
    for path, _, name in zip(fields, fields, fields, strict=True):
        yield path, name
