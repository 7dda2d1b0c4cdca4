"""Judges for items that no program decides: an earlier answer of an agent, else an agent, if it may be asked."""

from __future__ import annotations

import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Outcome
from aotloop.agents.roles import Role
from aotloop.app.loops import apply
from aotloop.app.preflight.agents import hire
from aotloop.app.verify import JudgeOf
from aotloop.checks.judge import Judge
from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.core.model import Objective
from aotloop.core.objective import digest_of
from aotloop.errors import AotError, Unavailable
from aotloop.execution.agent_pool import SHELL
from aotloop.execution.budget import Bill, Budget, bill_of, priced, sum_of
from aotloop.execution.isolation.checkout_guard import confinement_at
from aotloop.execution.judges.agent_judge import AgentJudge, Jury
from aotloop.execution.judges.ballot import Juror
from aotloop.execution.judges.case import Case, Copies, OnTheSpot, Sites
from aotloop.execution.judges.memory import RememberingJudge
from aotloop.fence.check_fence import fenced_setup
from aotloop.git.repository import find_repository
from aotloop.statefile.durable import our_files
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.trust.confirmations import Subject

HINT = "`aot verify --judge` asks an agent"


def judge_of(config: Config, role: Role = "judge") -> str | None:
    """The agent in this role, or None. A shell cannot judge."""
    name = config.agent_of(role)
    return None if name == SHELL else name


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed to ask an agent."""

    run_id: str
    scratch: Callable[[str], Path]
    budget: Budget


class Judges:
    """The judges of one loop. Close them when all is judged."""

    def __init__(self, store: Store, config: Config, asking: Asking | None = None) -> None:
        """`asking` None: no agent is asked; only known judgements count."""
        self._store = store
        self._config = config
        self._asking = asking
        self._root = Path(project_root(store.path))
        self._lock = threading.Lock()
        self._sites: Sites | None = None

    def judge(self, objective: Objective, root: Path, on_spent: Callable[[Outcome], None] = lambda _: None) -> Judge:
        """A judge of the files in `root`: the project itself, or a worktree of it."""
        case = Case(objective, root, self._where)
        is_configured = judge_of(self._config, "judge") or judge_of(self._config, "verifier")
        votes, hint = self._config.role("judge").votes, HINT if is_configured else None
        if self._asking is None or not is_configured:
            return RememberingJudge(case, votes=votes, hint=hint)
        return RememberingJudge(case, votes=votes, otherwise=AgentJudge(case, self._jury(self._asking, on_spent)))

    def close(self) -> None:
        with self._lock:
            if self._sites is not None:
                self._sites.close()
                self._sites = None

    def _jury(self, asking: Asking, on_spent: Callable[[Outcome], None]) -> Jury:
        def spent(juror: Juror, outcome: Outcome) -> None:
            on_spent(priced(outcome, self._config.price_of(juror.agent)))

        return Jury(
            jurors=self._jurors,
            run_id=asking.run_id,
            scratch=asking.scratch,
            votes=self._config.role("judge").votes,
            budget=asking.budget,
            instructions=lambda role: self._config.role(role).instructions,
            on_spent=spent,
        )

    def _jurors(self, role: Role) -> list[Juror]:
        name = judge_of(self._config, role)
        if name is None:
            raise Unavailable(f"no agent is configured as {role}", hint=f"Name one in aot.toml: [roles.{role}] agent")
        hired = (
            (agent_name, hire(self._config, agent_name, role))
            for agent_name in self._config.chain(name)
            if self._plays(agent_name, name, role)
        )
        return [
            Juror(agent=agent, backend=backend, limits=limits) for agent, (backend, limits) in hired if agent != SHELL
        ]

    def _plays(self, agent: str, named: str, role: Role) -> bool:
        return agent == named or self._config.plays(agent, role)

    def _where(self) -> Sites:
        with self._lock:
            if self._sites is None:
                self._sites = self._made()
            return self._sites

    def _made(self) -> Sites:
        own = our_files(self._store.path, str(self._root))
        repository = find_repository(self._root)
        if repository is None:
            return OnTheSpot(own=own)
        run_id = self._asking.run_id if self._asking is not None else None
        wanted = replace(self._config.worktree_setup, variables=self._config.variables(run_id))
        setup = fenced_setup(wanted, self._config.fence)
        fence = self._config.fence
        return Copies(
            repository,
            own=own,
            folder=self._config.worktrees,
            setup=setup,
            confine=lambda worktree: confinement_at(worktree, fence),
        )


# --- for one evaluation ------------------------------------------------------------------------------------------


@contextmanager
def recalled_judges(store: Store) -> Iterator[JudgeOf]:
    """With what agents found before. No agent is asked."""
    config = Config()
    with suppress(AotError):  # no judge is asked, so the configured agent does not matter
        config = load(Path(project_root(store.path)))
    judges = Judges(store, config)
    try:
        yield lambda subject: _judge_about(store, judges, subject, lambda _: None)
    finally:
        judges.close()


@contextmanager
def asked_judges(store: Store, config: Config, on_bill: Callable[[Bill], None]) -> Iterator[JudgeOf]:
    """Asks an agent about items without a known judgement. The state file keeps the costs."""
    _refuse_without_judge(config)
    bills: list[Bill] = []
    with tempfile.TemporaryDirectory(prefix="aot-judging-") as folder:
        asking = Asking(
            run_id=f"verify-{uuid.uuid4().hex[:12]}",
            scratch=lambda _: Path(tempfile.mkdtemp(dir=folder)),
            budget=Budget(most=config.max_attempt_cost_usd),
        )
        judges = Judges(store, config, asking)
        try:
            yield lambda subject: _judge_about(store, judges, subject, lambda outcome: bills.append(bill_of(outcome)))
        finally:
            judges.close()
            _account(store, sum_of(bills), on_bill)


def _judge_about(store: Store, judges: Judges, subject: Subject, on_spent: Callable[..., None]) -> Judge | None:
    objective = store.load().objective
    if digest_of(objective) != subject.objective_digest:
        return None  # it was changed just now, and no judgement would count
    return judges.judge(objective, Path(project_root(store.path)), on_spent)


def _refuse_without_judge(config: Config) -> None:
    if judge_of(config, "judge") is None and judge_of(config, "verifier") is None:
        raise Unavailable(
            "no agent is configured to judge", hint='Name one in aot.toml: `agent = "claude"`, or under [roles.judge].'
        )


def _account(store: Store, bill: Bill, on_bill: Callable[[Bill], None]) -> None:
    if bill.is_empty:
        return
    on_bill(bill)
    if holder_of(store.path) is None:  # else the process that runs the loop keeps its books
        apply(store, bill.event)
