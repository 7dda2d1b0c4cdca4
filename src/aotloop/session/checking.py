"""An atom's check decides whether its work lands: where it was done and, if the branch moved, merged with that."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.config import Config, load
from aotloop.core.checklist import check_of
from aotloop.core.commands import commands_in
from aotloop.core.item_paths import SEPARATOR
from aotloop.errors import AotError
from aotloop.session.outcomes import Job, Refused
from aotloop.statefile.locate import project_root
from aotloop.trust import is_trusted
from aotloop.verify.evaluate import evaluate
from aotloop.verify.results import Report
from aotloop.workspace.git import head_of
from aotloop.workspace.pool import Pool
from aotloop.workspace.repository import Repository
from aotloop.workspace.setup import Setup, furnisher


def problem_at(job: Job, folder: Path, when: str = "") -> Refused | None:
    """Why the work in this folder does not pass; None if it does. `when`: what is to be said before that."""
    tree = check_of(job.atom, job.loop.objective.base_case)
    if tree is None:
        return None
    job.permit(list(commands_in(tree)))
    report = evaluate(tree, root=folder, timeout=job.timeout)
    if report.passed:
        return None
    failing = [f"{name}: {result.evidence}" for name, result in report.failing.items()]
    waiting = [f"{name} is undecided" for name in report.waiting]
    reason = f"{when}{job.atom.id} does not pass its check: {'; '.join(failing or waiting)}"
    return Refused(why="check", reason=reason, holding=_holding(job, report))


def _holding(job: Job, report: Report) -> tuple[str, ...]:
    """What holds and did not, if the last verdict is of what is checked out: else nobody knows whose work it is."""
    verdict = job.loop.control.verdict
    if verdict is None or verdict.commit != head_of(Path(project_root(job.store.path))):
        return ()
    failed = {_last(path) for path in verdict.failing}
    return tuple(path for path in report.holding if _last(path) in failed)


def _last(path: str) -> str:
    return path.rpartition(SEPARATOR)[2]


def problem_when_merged(job: Job, repository: Repository, commit: str) -> Refused | None:
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
        problem = problem_at(job, desk.cwd, "together with what was merged meanwhile, ")
        pool.give_back(desk)
    return problem
