"""A judgement of a session counts only in sessions, and only for exactly the files that were judged.

`aot run`, `aot verify` and `aot confirm` do not take a session's word for it: the agent that
reports a judgement there may be the agent that did the work.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from aotloop.app.session.integration.checkout import WORKTREES
from aotloop.app.verify import JudgeFor, remembered
from aotloop.checks.judge import Judge, Judgement, Question
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.core.model import Objective
from aotloop.core.objective import digest_of
from aotloop.errors import AotError
from aotloop.execution.judges.case import Case, Copies, OnTheSpot, Sites
from aotloop.execution.judges.memory import RememberingJudge, key_of
from aotloop.git.repository import find_repository
from aotloop.process.cancellation import Cancellation
from aotloop.statefile.durable import our_files
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust import judgements
from aotloop.trust.confirmations import Subject

TELLER = "session"
HINT = "a judge says it with record_judgement.py"


class SaidInSession:
    """Answers with recorded judgements of the session; asks another judge about all other items."""

    def __init__(self, case: Case, otherwise: Judge) -> None:
        self._case = case
        self._otherwise = otherwise

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        known = judgements.recall(key_of(self._case, leaf, teller=TELLER)) if judgements.is_anything_kept() else None
        if known is None:
            return self._otherwise.judge(leaf, cancellation)
        quoted = f"{known.evidence} (said in a session at {known.at})"
        return Judgement(passed=known.passed, evidence=quoted, scores=known.scores, confirmed=known.confirmed)


def judge_in_session(store: Store, objective: Objective) -> JudgeFor:
    """Confirmations of a person in a terminal come first, then judgements of this session, then those of agents."""
    case = case_of(store)
    config = Config()
    with suppress(AotError):  # no judge is asked, so the configured one does not matter
        config = load(Path(project_root(store.path)))
    by_agents = RememberingJudge(case, votes=config.role("judge").votes, hint=HINT)

    def judge(subject: Subject) -> Judge:
        is_it = subject.objective_digest == digest_of(objective)
        return remembered(subject, SaidInSession(case, by_agents) if is_it else None)

    return judge


def case_of(store: Store) -> Case:
    root = Path(project_root(store.path))

    def sites() -> Sites:
        own = [*our_files(store.path, str(root)), WORKTREES]
        repository = find_repository(root)
        return OnTheSpot(own=own) if repository is None else Copies(repository, own=own)

    return Case(store.load().objective, root, sites)
