"""Artifacts: chooses the file that a turn claims for its phase, a fitting one that it names or changed.

A later step, the filing of the receipt, checks that the file exists.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.phases.project import Project, protected
from aotloop.text.patterns import matching

_ANY_CHANGE: frozenset[Phase] = frozenset({"work", "fix", "ship"})
"""Phases that accept any changed file as artifact."""


def claimed(loop: PhaseLoop, named: Sequence[str], hint: str, changed: Sequence[str]) -> str:
    """`named`: by the agent, in its order. `hint`: the usual place. `changed`: by its commit."""
    if loop.phase in _ANY_CHANGE:
        # Changed code says more than a text about it.
        built = sorted(_without(loop, changed), key=lambda path: path.endswith(".md"))
        return _first(_without(loop, named), built, named, changed, [hint])
    if hint in named:
        return hint
    folder, suffix = posixpath.dirname(hint), posixpath.splitext(hint)[1]
    beside = [path for path in named if posixpath.dirname(path) == folder]
    alike = [path for path in named if posixpath.splitext(path)[1] == suffix]
    return _first(beside, alike, named, [hint])


def changed_by(project: Project, commit: str) -> list[str]:
    """Changed files that exist after it, from the project's root."""
    words = ("diff-tree", "--root", "--no-commit-id", "--name-only", "--diff-filter=AMR", "-r", "-z", commit)
    return _from_root(project, project.repository.git(*words).fields)


def changed_since(project: Project, at: str) -> list[str]:
    """Files changed by commits since then, the latest first."""
    words = ("log", f"--since={at}", "--name-only", "--diff-filter=AMR", "--format=", "-z", "HEAD")
    found = _from_root(project, (field.strip("\n") for field in project.repository.git(*words).fields))
    return [path for path in found if (project.root / path).is_file()]


def _from_root(project: Project, paths: Iterable[str]) -> list[str]:
    prefix = project.repository.prefix
    seen = (posixpath.relpath(path, prefix or ".") for path in paths if path)
    return [path for path in dict.fromkeys(seen) if not path.startswith("../")]


def _without(loop: PhaseLoop, paths: Sequence[str]) -> list[str]:
    """Files of the loop itself prove no work; nor do protected tests."""
    ours = {*matching(paths, protected(loop)), loop.artifacts.progress_file}
    return [path for path in paths if path not in ours]


def _first(*choices: Sequence[str]) -> str:
    return next((path for choice in choices for path in choice if path), "")
