"""Runs the acceptance tests of a loop on the committed files, or recalls their last verdict at the same commit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.errors import AotError
from aotloop.fence.checkout_witness import CheckoutWitness, remedy_for
from aotloop.phases.evidence.integrity import overlooked
from aotloop.phases.evidence.test_command import TestRun, command_for, run_tests
from aotloop.phases.project import Project
from aotloop.process.cancellation import Cancellation
from aotloop.statefile.durable import our_files
from aotloop.text.phrases import listed
from aotloop.trust.verdicts import is_tested

Permit = Callable[[list[str]], None]
"""Called with the exact command before it runs; raises NotTrusted if it may not run."""

_OURS_IN_A_SESSION = ".claude/worktrees"
_SETTINGS = "aot.toml"
"""It may belong to one person only, and not to the project."""
_MADE_BY_TESTS = "__pycache__"


def allow(commands: list[str]) -> None:
    """For callers that have asked the person before."""


def run_acceptance(
    project: Project, phase: Phase, file: str | None, permit: Permit, cancellation: Cancellation | None = None
) -> TestRun:
    """Once the work has begun, tests of uncommitted files do not count."""
    if file is None:
        return TestRun(passed=None, command="", evidence="there are no acceptance tests")
    if phase != "spec_test" and (dirt := uncommitted(project)):
        shown = listed(dirt)
        return TestRun(passed=None, command="", evidence=f"they were not run, as this is not committed: {shown}")
    try:
        command = command_for(project.root, file, project.settings)
    except AotError as error:
        return TestRun(passed=None, command="", evidence=" ".join(filter(None, (error.message, error.hint))))
    permit([command])
    _forget_kept(project.root / file)
    commit = project.head()
    witness = CheckoutWitness(project.root, project.store.path, project.confinement)
    before = witness.begin()
    run = run_tests(
        project.root,
        command,
        timeout=project.settings.test_timeout,
        cancellation=cancellation,
        variables=project.variables,
        confinement=project.confinement,
    )
    if project.head() != commit:
        return TestRun(passed=None, command=command, evidence="what is checked out changed while they ran")
    if changed := witness.changes(before):
        return TestRun(passed=None, command=command, evidence=remedy_for(changed))
    return run


def _forget_kept(tests: Path) -> None:
    """Python trusts its compiled files by size and time of the source, and any program can set both."""
    for kept in tests.parent.glob(f"{_MADE_BY_TESTS}/*.pyc"):
        with suppress(OSError):
            kept.unlink()


def kept_run(project: Project, loop: PhaseLoop) -> TestRun | None:
    """None: they did not run at this exact commit, or there are uncommitted files, or only the file says so."""
    verdict = loop.tests_verdict
    if verdict is None or verdict.commit != project.head() or uncommitted(project):
        return None
    if verdict.passed and not is_tested(project.store.path, verdict.commit, verdict.timestamp):
        return None
    result = "passed" if verdict.passed else "failed"
    return TestRun(passed=verdict.passed, command="", evidence=f"they {result} at {verdict.timestamp}")


def uncommitted(project: Project) -> list[str]:
    ours = [*our_files(project.store.path, str(project.root)), _OURS_IN_A_SESSION, _SETTINGS]
    found = [*project.repository.dirty([project.in_repository(path) for path in ours]), *overlooked(project.repository)]
    return [path for path in found if _MADE_BY_TESTS not in path.split("/") and not _is_state_file(path)]


def _is_state_file(path: str) -> bool:
    """The file of the other kind of loop, which `work` runs."""
    return path.rpartition("/")[2].lstrip(".").startswith(("aot-loop-state.md", "ship-aot-loop-state.md"))
