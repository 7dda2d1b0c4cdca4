"""Which file a turn claims as the artifact of its phase: one that it names and that fits, or that it changed.

Nothing here decides whether it is there: that is found out when the receipt is filed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.phases.ground import Ground
from aotloop.phases.protecting import protected
from aotloop.workspace.globs import matching

_ANY_CHANGE: frozenset[Phase] = frozenset({"work", "fix", "ship"})
"""Phases whose artifact is whatever was changed."""


def claimed(loop: PhaseLoop, named: Sequence[str], hint: str, changed: Sequence[str]) -> str:
    """`named`: by the agent, in its order. `hint`: where it usually goes. `changed`: by its commit."""
    if loop.phase in _ANY_CHANGE:
        # What was built says more than what was written about it.
        built = sorted(_without(loop, changed), key=lambda path: path.endswith(".md"))
        return _first(_without(loop, named), built, named, changed, [hint])
    if hint in named:
        return hint
    folder, suffix = posixpath.dirname(hint), posixpath.splitext(hint)[1]
    beside = [one for one in named if posixpath.dirname(one) == folder]
    alike = [one for one in named if posixpath.splitext(one)[1] == suffix]
    return _first(beside, alike, named, [hint])


def changed_by(ground: Ground, commit: str) -> list[str]:
    """Files that are there after it, from the project's root."""
    words = ("diff-tree", "--root", "--no-commit-id", "--name-only", "--diff-filter=AMR", "-r", "-z", commit)
    return _from_root(ground, ground.repository.git(*words).fields)


def changed_since(ground: Ground, at: str) -> list[str]:
    """By commits since then, the latest first."""
    words = ("log", f"--since={at}", "--name-only", "--diff-filter=AMR", "--format=", "-z", "HEAD")
    found = _from_root(ground, (field.strip("\n") for field in ground.repository.git(*words).fields))
    return [path for path in found if (ground.root / path).is_file()]


def _from_root(ground: Ground, paths: Iterable[str]) -> list[str]:
    prefix = ground.repository.prefix
    seen = (posixpath.relpath(path, prefix or ".") for path in paths if path)
    return [path for path in dict.fromkeys(seen) if not path.startswith("../")]


def _without(loop: PhaseLoop, paths: Sequence[str]) -> list[str]:
    """What the loop itself keeps proves no work, nor do tests that nobody may change."""
    ours = {*matching(paths, protected(loop)), loop.artifacts.progress_file}
    return [path for path in paths if path not in ours]


def _first(*choices: Sequence[str]) -> str:
    return next((one for choice in choices for one in choice if one), "")
