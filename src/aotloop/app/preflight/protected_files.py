"""The protected files at the time of the agreement: a session completes nothing if one of them has changed.

In a session agents work with the person's rights, and may overwrite a protected file in the checkout itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.core.model import Objective
from aotloop.errors import Unavailable
from aotloop.foreign_tree import fingerprint, walk_foreign
from aotloop.statefile.durable import JOURNALS
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed
from aotloop.trust.folder import record_of
from aotloop.trust.sealed_records import keep_sealed, sealed_content

_KIND = "protected"
_LEFT_OUT = frozenset({".git", JOURNALS, "worktrees", "node_modules"})


class _Protected(msgspec.Struct, frozen=True):
    patterns: tuple[str, ...]
    files: dict[str, str]


def remember_protected(store: Store, objective: Objective) -> None:
    """If the home folder cannot be written, the use case continues and the files are not remembered."""
    record = record_of(_KIND, store.path)
    with suppress(Unavailable):
        if objective.protect:
            kept = _Protected(objective.protect, _digests(store, objective.protect))
            keep_sealed(record, msgspec.json.encode(kept), "how the protected files were")
        else:
            with suppress(OSError):
                record.unlink(missing_ok=True)


def changed_protected(store: Store, objective: Objective) -> list[str]:
    """One line for the files that differ; empty if none does, or if it is not known how they were."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        before = msgspec.json.decode(sealed_content(record_of(_KIND, store.path)), type=_Protected)
        if before.patterns == objective.protect:
            now = _digests(store, objective.protect)
            changed = sorted(path for path in {*before.files, *now} if before.files.get(path) != now.get(path))
            return [f"protected files were changed: {listed(changed)}"] if changed else []
    return []


def protecting_nothing(patterns: tuple[str, ...], root: Path) -> list[str]:
    """One line for each glob that no file matches: it may be a typing error, or protect files that come later."""
    from aotloop.checks.file_check import check_file  # noqa: PLC0415 - most loops protect nothing

    unmatched = [pattern for pattern in patterns if not check_file(pattern, root=root).passed]
    return [f"No file matches {pattern} now; it protects files that come later." for pattern in unmatched]


def _digests(store: Store, patterns: tuple[str, ...]) -> dict[str, str]:
    from aotloop.text.patterns import matching  # noqa: PLC0415 - most loops protect nothing

    root = project_root(store.path)
    return {path: fingerprint(Path(root, path)) for path in matching(list(_paths(root)), patterns)}


def _paths(root: str) -> Iterator[str]:
    for folder, names, files in walk_foreign(root):
        names[:] = [name for name in names if name not in _LEFT_OUT]
        for name in files:
            yield os.path.relpath(os.path.join(folder, name), root)  # noqa: PTH118 - there may be many
