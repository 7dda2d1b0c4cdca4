"""The conditions for accepting an atom's work: it changes no protected path, and its check passes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from aotloop.app.checkout_fence import fence_of, fenced_checkout, variables_of
from aotloop.app.session.integration.integration_result import Job, Refused
from aotloop.checks.evaluation import evaluate
from aotloop.checks.results import Report
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.core.checks.checklist import Node, check_of
from aotloop.core.checks.item_paths import SEPARATOR
from aotloop.core.commands import commands_in
from aotloop.errors import AotError
from aotloop.execution.integration.protection import protection_of, words_for
from aotloop.execution.isolation.check_trees import CheckTrees
from aotloop.fence.check_fence import fence_around, fenced_setup, tree_confinement
from aotloop.git.command import head_of
from aotloop.git.commits.objects import ATOM, ATTEMPT, RUN, title_of
from aotloop.git.repository import Repository
from aotloop.git.worktrees.setup import Setup
from aotloop.process.sandbox import Confinement, Policy
from aotloop.statefile.locate import project_root
from aotloop.trust.accepted_commands import is_trusted


def title_for(job: Job) -> str:
    return title_of(f"{job.atom.id}: {job.atom.description}")


def trailers_of(job: Job, attempt: str) -> dict[str, str]:
    return {ATOM: job.atom.id, ATTEMPT: attempt, RUN: job.run_id}


def protected_paths_problem(job: Job, repository: Repository, paths: Iterable[str]) -> Refused | None:
    protection = protection_of(job.loop.objective.protect, job.store.path, str(repository.root))
    refused = protection.refused(paths, repository.prefix)
    return Refused(why="protected", reason=words_for(refused), paths=refused) if refused else None


def problem_at(job: Job, folder: Path, when: str = "", fence: Confinement | None = None) -> Refused | None:
    """Why the work in this folder does not pass; None if it does. `when`: what is to be said before that.

    `fence`: what its commands may not change; None: the folder is the checkout.
    """
    tree = check_of(job.atom, job.loop.objective.base_case)
    if tree is None:
        return None
    job.permit(list(commands_in(tree)))
    report = _report(job, folder, fence, tree)
    if report.passed:
        return None
    failing = [f"{name}: {result.evidence}" for name, result in report.failing.items()]
    waiting = [f"{name} is undecided: {result.evidence}" for name, result in report.waiting.items()]
    reason = f"{when}{job.atom.id} does not pass its check: {'; '.join(failing or waiting)}"
    return Refused(why="check", reason=reason, holding=_holding(job, report))


def _report(job: Job, folder: Path, fence: Confinement | None, tree: Node) -> Report:
    protect = job.loop.objective.protect
    if fence is None:
        with fenced_checkout(job.store.path, protect, folder) as checkout:
            return checkout.report(tree, timeout=job.timeout)
    root = Path(project_root(job.store.path))
    wanted = fence_of(root)
    with fence_around(fence.under(wanted) if wanted is not None else None, variables_of(root)) as around:
        return evaluate(tree, root=folder, timeout=job.timeout, env=around.env, confinement=around.confinement)


def _holding(job: Job, report: Report) -> tuple[str, ...]:
    """The items that hold now and did not before. Empty if the last verdict is about another commit."""
    verdict = job.loop.control.verdict
    if verdict is None or verdict.commit != head_of(Path(project_root(job.store.path))):
        return ()
    failed = {_last(path) for path in verdict.failing}
    return tuple(path for path in report.holding if _last(path) in failed)


def _last(path: str) -> str:
    return path.rpartition(SEPARATOR)[2]


def problem_of_commit(job: Job, repository: Repository, commit: str, when: str = "") -> Refused | None:
    """In a clean tree of ours, set up as configured, if the person has accepted that."""
    if check_of(job.atom, job.loop.objective.base_case) is None:
        return None
    config = Config()
    with suppress(AotError):
        config = load(repository.root)
    is_accepted = config.source is None or is_trusted(str(config.source), config.permissions)
    wanted = replace(config.worktree_setup, variables=config.variables())
    setup = fenced_setup(wanted, config.fence) if is_accepted else Setup()
    trees = CheckTrees(repository, setup)
    try:
        tree = trees.take(commit)
        return problem_at(job, tree.cwd, when, tree_confinement(repository, tree.path, Policy()))
    finally:
        trees.close()
