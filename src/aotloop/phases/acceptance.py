"""The acceptance tests of a loop, run on what is committed; or what they said when they were run on it last."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.ground import Ground
from aotloop.phases.overlooked import overlooked
from aotloop.phases.testing import TestRun, command_for, run_tests
from aotloop.statefile.belongings import our_files
from aotloop.verify.cancellation import Cancellation

Permit = Callable[[list[str]], None]
"""Told of the very command that is about to be run; raises NotTrusted if it may not be."""

_OURS_IN_A_SESSION = ".claude/worktrees"
_SETTINGS = "aot.toml"
"""Of whoever works here; it need not be the project's."""
_MADE_BY_TESTS = "__pycache__"
_MOST_SHOWN = 5


def allow(commands: list[str]) -> None:
    """For whoever has asked before."""


def run_acceptance(
    ground: Ground, phase: Phase, file: str | None, permit: Permit, cancellation: Cancellation | None = None
) -> TestRun:
    """What they say about files that nobody has committed counts for nothing, once the work has begun."""
    if file is None:
        return TestRun(passed=None, command="", evidence="there are no acceptance tests")
    if phase != "spec_test" and (dirt := uncommitted(ground)):
        shown = ", ".join(dirt[:_MOST_SHOWN]) + (" …" if len(dirt) > _MOST_SHOWN else "")
        return TestRun(passed=None, command="", evidence=f"they were not run, as this is not committed: {shown}")
    try:
        command = command_for(ground.root, file, ground.settings)
    except AotError as error:
        return TestRun(passed=None, command="", evidence=" ".join(filter(None, (error.message, error.hint))))
    permit([command])
    _forget_kept(ground.root / file)
    commit = ground.head()
    run = run_tests(
        ground.root,
        command,
        timeout=ground.settings.test_timeout,
        cancellation=cancellation,
        variables=ground.variables,
    )
    if ground.head() != commit:
        return TestRun(passed=None, command=command, evidence="what is checked out changed while they ran")
    return run


def _forget_kept(tests: Path) -> None:
    """What Python kept of them is believed by their size and time alone, which anybody can set."""
    for kept in tests.parent.glob(f"{_MADE_BY_TESTS}/*.pyc"):
        with suppress(OSError):
            kept.unlink()


def kept_run(ground: Ground, loop: PhaseLoop) -> TestRun | None:
    """None: they were not run at this very commit, or there is something that is not committed."""
    verdict = loop.tests_verdict
    if verdict is None or verdict.commit != ground.head() or uncommitted(ground):
        return None
    said = "passed" if verdict.passed else "failed"
    return TestRun(passed=verdict.passed, command="", evidence=f"they {said} at {verdict.timestamp}")


def uncommitted(ground: Ground) -> list[str]:
    ours = [*our_files(ground.store.path, str(ground.root)), _OURS_IN_A_SESSION, _SETTINGS]
    found = [*ground.repository.dirty([ground.in_repository(one) for one in ours]), *overlooked(ground.repository)]
    return [path for path in found if _MADE_BY_TESTS not in path.split("/") and not _is_state_file(path)]


def _is_state_file(path: str) -> bool:
    """Of the other kind of loop, which `work` runs."""
    return path.rpartition("/")[2].startswith((".aot-loop-state.md", "aot-loop-state.md"))
