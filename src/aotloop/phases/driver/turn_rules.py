"""The rules of one turn: what it may change. They are checked in its folder, before the commit.

A turn changes no file that is protected in its phase. A review changes only the document that it writes. The failures
of this phase go into the log of the project, together with the work.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.execution.task import Inspect
from aotloop.git.commits.attempt_commit import refuse
from aotloop.phases.driver.phase_run import Terms
from aotloop.phases.failure_log import note_failed
from aotloop.phases.guidance import instructions_for
from aotloop.phases.project import protected
from aotloop.text.phrases import listed

ONLY_LOOK: frozenset[Phase] = frozenset({"review", "re_review"})
"""Phases that change only the document they write."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Paths are relative to the project's root."""

    protect: tuple[str, ...] = ()
    document: str | None = None
    """The only file that may change, or another one in the same folder instead; None: others may change too."""
    log: str | None = None
    failed: tuple[tuple[Phase, str], ...] = ()
    """The text that has to be in the log."""


def inspection_of(loop: PhaseLoop, terms: Terms) -> Inspect:
    rules = Rules(
        protect=protected_in(loop),
        document=instructions_for(loop, terms.settings).artifact if loop.phase in ONLY_LOOK else None,
        log=loop.artifacts.progress_file,
        failed=tuple((loop.phase, text) for text in failures_of(loop)),
    )
    return partial(_inspect, rules, terms.prefix)


def protected_in(loop: PhaseLoop) -> tuple[str, ...]:
    """Globs of the files that this turn may not change. While the tests are being written, they are not agreed yet."""
    return () if loop.phase == "spec_test" else protected(loop)


def failures_of(loop: PhaseLoop) -> tuple[str, ...]:
    """Failures of this stay in the phase, the latest last: refused claims, and turns that failed."""
    since = loop.phase_started_at or loop.started_at
    errors = (error for error in loop.errors if error.phase == loop.phase and not error.forced)
    return tuple(dict.fromkeys(error.message for error in errors if error.timestamp >= since))


def _inspect(rules: Rules, prefix: str, folder: Path, changed: Sequence[str]) -> str | None:
    """Why the work is refused; None: it is accepted. `changed`: paths from the repository's top."""
    if refused := refuse(changed, rules.protect, (), prefix):
        return f"it changed what was agreed on and is protected: {listed(refused)}"
    seen = [posixpath.relpath(path, prefix or ".") for path in changed]
    if rules.document is not None and (others := _besides(rules.document, seen)):
        return f"it was to look, and to change nothing but {rules.document}: it changed {listed(others)}"
    _write_log(rules, folder)
    return None


def _write_log(rules: Rules, folder: Path) -> None:
    """Does not write through a link of the agent: it may lead out of the worktree."""
    if rules.log is None or not rules.failed:
        return
    root = folder.resolve()
    log = root / rules.log
    if log.resolve() == log and log.is_relative_to(root):
        note_failed(root, rules.log, rules.failed)


def _besides(document: str, changed: Sequence[str]) -> list[str]:
    """Other changed files. The document may have another name, if it is in the same folder."""
    if document in changed:
        return [path for path in changed if path != document]
    is_renamed = len(changed) == 1 and posixpath.dirname(changed[0]) == posixpath.dirname(document)
    return [] if is_renamed else list(changed)
