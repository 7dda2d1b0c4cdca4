"""Who judges what no program can, as configured: what an agent found before, else an agent, if one may be asked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.contract import Outcome
from aotloop.agents.roles import Role
from aotloop.config import Config
from aotloop.core.model import Objective
from aotloop.errors import Unavailable
from aotloop.judging.asking import Juror
from aotloop.judging.cases import Case
from aotloop.judging.judge import AgentJudge, Jury
from aotloop.judging.remembering import Remembering
from aotloop.judging.sites import Copies, OnTheSpot, Sites
from aotloop.launch.admission import hire
from aotloop.launch.placing import worktrees_folder
from aotloop.runner.bills import priced
from aotloop.runner.confining import confinement_at
from aotloop.runner.crew import SHELL
from aotloop.statefile.belongings import our_files
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.verify.judge import Judge
from aotloop.workspace.repository import find_repository
from aotloop.workspace.setup import linked

HINT = "`aot verify --judge` asks an agent"


def judge_of(config: Config, role: Role = "judge") -> str | None:
    """The agent in this role; None: nobody. A shell has no opinions."""
    name = config.agent_of(role)
    return None if name == SHELL else name


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge needs that may be asked."""

    run_id: str
    scratch: Callable[[str], Path]
    allowance: Callable[[], float | None] = lambda: None


class Judges:
    """Of one loop; to be closed when nobody judges any more."""

    def __init__(self, store: Store, config: Config, asking: Asking | None = None) -> None:
        """`asking` is None where nobody is to be asked: then only what is known counts."""
        self._store = store
        self._config = config
        self._asking = asking
        self._root = Path(project_root(store.path))
        self._lock = threading.Lock()
        self._sites: Sites | None = None

    def judge(self, objective: Objective, root: Path, on_spent: Callable[[Outcome], None] = lambda _: None) -> Judge:
        """About what lies in this folder: the project itself, or a worktree of it."""
        case = Case(objective, root, self._where)
        is_anybody = judge_of(self._config, "judge") or judge_of(self._config, "verifier")
        votes, hint = self._config.role("judge").votes, HINT if is_anybody else None
        if self._asking is None or not is_anybody:
            return Remembering(case, votes=votes, hint=hint)
        return Remembering(case, votes=votes, otherwise=AgentJudge(case, self._jury(self._asking, on_spent)))

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
            allowance=asking.allowance,
            instructions=lambda role: self._config.role(role).instructions,
            on_spent=spent,
        )

    def _jurors(self, role: Role) -> list[Juror]:
        name = judge_of(self._config, role)
        if name is None:
            raise Unavailable(f"no agent is configured as {role}", hint=f"Name one in aot.toml: [roles.{role}] agent")
        hired = ((one, hire(self._config, one, role)) for one in self._config.chain(name))
        return [Juror(agent=one, backend=backend, limits=limits) for one, (backend, limits) in hired if one != SHELL]

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
        variables = {"AOT_RUN_ID": self._asking.run_id} if self._asking is not None else {}
        setup = replace(self._config.worktree_setup, variables=variables)
        confines = self._config.confine == "auto"
        return Copies(
            repository,
            own=own,
            folder=worktrees_folder(self._config),
            setup=setup,
            confine=lambda desk: confinement_at(desk, linked(repository, setup)) if confines else None,
        )
