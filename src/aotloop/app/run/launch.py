"""One run, put together: budget, judges, conversations, attempts and the runner; opened, driven, closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from aotloop.app.checkout_fence import witness_of_run
from aotloop.app.cluster.elsewhere import Makers, Terms, makers_of
from aotloop.app.judges import Asking, Judges
from aotloop.app.preflight.agent_report import agent_report
from aotloop.app.preflight.agents import hire
from aotloop.app.preflight.agreement import behind_its_back, changed_since_agreed
from aotloop.app.preflight.workplace import unknown_author
from aotloop.app.run.run_news import run_began, run_ended, stop_after_a_bug
from aotloop.app.verify import remembered
from aotloop.checks.judge import Judge
from aotloop.clock import now
from aotloop.config.schema import Config
from aotloop.core.model import Atom, Loop, Objective
from aotloop.core.objective import digest_of
from aotloop.core.scheduler.run_state import Run
from aotloop.errors import AotError
from aotloop.execution import run_events
from aotloop.execution.agent_pool import AgentPool
from aotloop.execution.attempts.attempt import Attempts
from aotloop.execution.attempts.attempt_names import names_in
from aotloop.execution.attempts.conversation import Conversations
from aotloop.execution.availability import Availability
from aotloop.execution.budget import Budget
from aotloop.execution.integration.protection import Protection, protection_of
from aotloop.execution.isolation.place import Isolation
from aotloop.execution.journals.event_file import EventsFile
from aotloop.execution.journals.journal import Journal
from aotloop.execution.observer import Observer
from aotloop.execution.task import OnSpent
from aotloop.execution.verification import Verification
from aotloop.fence.check_fence import checkout_confinement
from aotloop.process.cancellation import undisturbed
from aotloop.process.sandbox import Confinement
from aotloop.runner.crash_recovery import UnmergedResults, recovery_of
from aotloop.runner.run_context import RunContext
from aotloop.runner.runner import Ending, Runner, Start
from aotloop.statefile.lease import Lease
from aotloop.statefile.locate import project_root
from aotloop.statefile.logged_store import LoggedStore
from aotloop.statefile.store import Store
from aotloop.trust.confirmations import Subject
from aotloop.trust.verdicts import keep_verdict


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of this run alone."""

    limits: Mapping[str, Any] = {}
    branch: str | None = None
    detached: bool = False
    """Commits may belong to no branch."""
    take_over: bool = False
    """Also if a session drives the loop."""
    is_accepted: Callable[[Loop], bool]
    """Whether the user has accepted every command of a loop."""
    commit_title: Callable[[Atom], str] = lambda _: ""
    """As in RunContext."""


class Launch:
    """One run of a loop. `run` opens what it needs, drives it to its end, and closes everything again."""

    def __init__(
        self,
        store: Store,
        config: Config,
        options: RunOptions,
        observer: Observer,
        isolation: Isolation,
        run_id: str,
        held: Lease,
    ) -> None:
        self._store = store
        self._config = config
        self._options = options
        self._observer = observer
        self._isolation = isolation
        self._run_id = run_id
        self._lease = held
        self._logged = LoggedStore(store.path, after=store)
        self._root = Path(project_root(store.path))
        self._journal = Journal(self._root, config.max_journal_mb)
        self._budget = Budget(self._money_left, config.max_attempt_cost_usd)
        asking = Asking(run_id=run_id, scratch=self._journal.judgement_folder, budget=self._budget)
        self._judges = Judges(store, config, asking)
        self._conversations = Conversations(self._journal.sittings_folder(run_id), self._is_resolved)
        self._run: Run | None = None
        self._makers: Makers | None = None

    def run(self, loop: Loop) -> Ending:
        recovery = recovery_of(
            loop, self._run_id, self._journal, self._isolation.branch, self._protection(loop.objective)
        )
        self._run = run = Run(
            loop,
            overriding=dict(self._options.limits),
            first_attempt=recovery.first_attempt,
            shares_a_tree=self._isolation.isolation == "none",
        )
        start = Start(
            run_id=self._run_id,
            objective_digest=digest_of(loop.objective),
            recovery=recovery,
            is_resumed=loop.control.status == "running",
            commit=self._clean_commit(),
        )
        self._journal.open()
        self._conversations.open()
        self._observer.open(loop.snapshot())
        try:
            return self._drive(run, start)
        except Exception as error:
            if not isinstance(error, AotError):
                self._note_bug(error)
            raise
        finally:
            self._observer.close()
            self._journal.close()
            with undisturbed():
                self._judges.close()
                self._conversations.close()

    def _protection(self, objective: Objective) -> Protection:
        return protection_of(objective.protect, self._store.path, str(self._root))

    def _clean_commit(self) -> str | None:
        """The commit that is checked out, if the run accepts no other changes in the checkout; else None."""
        is_clean = self._isolation.branch is not None and not self._config.allow_dirty
        return self._isolation.head() if is_clean else None

    def _drive(self, run: Run, start: Start) -> Ending:
        runner = Runner(
            store=self._logged,
            context=self._context(run),
            start=start,
            objection=self._objection,
            renew=self._lease.renew,
            observer=self._observer,
        )
        self._tell(run_began(run, self._run_id, self._isolation, self._options.limits))
        branch = self._isolation.branch
        if branch is not None and (author := unknown_author(branch.repository)) is not None:
            self._tell(run_events.Warned(at=now(), text=str(author)))
        for event in agent_report(run.loop, self._config, run.limits):
            self._tell(event)
        with self._logged:  # at its end the file has everything
            ending = asyncio.run(self._driven(runner))
        if self._journal.problem is not None:
            self._tell(run_events.Warned(at=now(), text=self._journal.problem))
        self._tell(run_ended(run, ending))
        return ending

    async def _driven(self, runner: Runner) -> Ending:
        try:
            return await runner.drive()
        finally:
            if self._makers is not None:
                await self._makers.close()

    def _is_resolved(self, atom_id: str) -> bool:
        atom = self._run.board.atoms.get(atom_id) if self._run is not None else None
        return atom is not None and atom.status == "resolved"

    def _tell(self, event: run_events.RunEvent) -> None:
        self._journal.note(event)
        self._observer.news(event)

    def _warn(self, text: str) -> None:
        self._tell(run_events.Warned(at=now(), text=text))

    def _context(self, run: Run) -> RunContext:
        verification = Verification(timeout=self._config.check_timeout, variables=self._config.variables(self._run_id))
        agent_pool = AgentPool(self._config, partial(hire, self._config), Availability(self._config.patience))
        terms = Terms(
            run_id=self._run_id,
            isolation=self._isolation,
            protection=self._protection(run.loop.objective),
            records=self._journal.attempt_folder,
            on_output=self._observer.output,
            warn=self._warn,
        )
        self._makers = makers_of(self._config, terms, Path(self._store.path), self._conversations)
        checks = self._makers.checks(verification, self._isolation, self._warn)
        attempts = Attempts(
            isolation=self._isolation,
            checks=checks,
            agent_pool=agent_pool,
            budget=self._budget,
            journal=self._journal,
            maker=self._makers,
            conversations=self._conversations,
        )
        return RunContext(
            run=run,
            run_id=self._run_id,
            root=self._root,
            isolation=self._isolation,
            verification=verification,
            checks=checks,
            judge_at=self._judge_at,
            agent_pool=agent_pool,
            journal=self._journal,
            unmerged=UnmergedResults(self._journal),
            attempts=attempts,
            budget=self._budget,
            names=names_in(EventsFile(self._store.path), self._run_id),
            tell=self._tell,
            confinement=self._confinement,
            keep_verdict=partial(keep_verdict, self._store.path),
            commit_title=self._options.commit_title,
            witness=witness_of_run(self._logged, self._isolation, self._journal, self._config.fence),
        )

    def _confinement(self) -> Confinement | None:
        return checkout_confinement(self._root, self._store.path, self._config.fence)

    def _judge_at(self, objective: Objective, commit: str | None, root: Path, on_spent: OnSpent) -> Judge:
        about = Subject(state_file=self._store.path, objective_digest=digest_of(objective), commit=commit)
        return remembered(about, self._judges.judge(objective, root, on_spent))

    def _money_left(self) -> float | None:
        """USD that the loop may still spend; None: no limit."""
        limit = self._run.limits.max_cost_usd if self._run is not None else None
        return limit - self._run.loop.control.cost_usd if limit is not None and self._run is not None else None

    def _objection(self, loop: Loop, is_other_objective: bool) -> str | None:
        changed = changed_since_agreed(self._store, loop.objective) if is_other_objective else []
        if changed:
            return f"blocked: {behind_its_back(changed)} (`aot redirect --accept` takes it)"
        if not self._options.is_accepted(loop):
            return "blocked: the file has commands that were not accepted; `aot run` shows them, and asks"
        return None

    def _note_bug(self, error: Exception) -> None:
        reason = f"error: {type(error).__name__}: {error}"
        with suppress(AotError):
            self._store.update(partial(stop_after_a_bug, reason=reason))
