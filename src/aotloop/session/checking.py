"""An atom's check decides whether its work lands: where it was done and, if the branch moved, merged with that."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.config import Config, load
from aotloop.core.checklist import check_of
from aotloop.core.commands import commands_in
from aotloop.errors import AotError
from aotloop.session.outcomes import Job
from aotloop.trust import is_trusted
from aotloop.verify.evaluate import evaluate
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository
from aotloop.workspace.setup import Setup, furnisher


def problem_at(job: Job, folder: Path) -> str | None:
    """Why the work in this folder does not pass; None if it does."""
    tree = check_of(job.atom, job.loop.objective.base_case)
    if tree is None:
        return None
    job.permit(list(commands_in(tree)))
    report = evaluate(tree, root=folder, timeout=job.timeout)
    if report.passed:
        return None
    failing = [f"{name}: {result.evidence}" for name, result in report.failing.items()]
    waiting = [f"{name} is undecided" for name in report.waiting]
    return f"{job.atom.id} does not pass its check: {'; '.join(failing or waiting)}"


def problem_when_merged(job: Job, repository: Repository, commit: str) -> str | None:
    """In a worktree of ours, set up as configured, if the person has accepted that."""
    if check_of(job.atom, job.loop.objective.base_case) is None:
        return None
    config = Config()
    with suppress(AotError):
        config = load(repository.root)
    is_accepted = config.source is None or is_trusted(str(config.source), config.powers)
    setup = config.worktree_setup if is_accepted else Setup()
    folder = Path(config.worktrees) if config.worktrees is not None and is_accepted else None
    with Pool(repository, folder, furnisher(setup)) as pool:
        desk = pool.take(commit)
        problem = problem_at(job, desk.cwd)
        pool.give_back(desk)
    return f"together with what was merged meanwhile, {problem}" if problem is not None else None
