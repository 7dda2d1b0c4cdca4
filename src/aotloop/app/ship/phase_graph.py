"""Does a phase as a graph: its steps become an AoT loop in the usual state file, and that loop runs to its end.

The phase loop is charged for it while it runs. When the phase loop is stopped, this module stops the graph too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from aotloop.app.align.agreed_file import loop_in, write
from aotloop.app.loops import apply
from aotloop.app.run.launch import RunOptions
from aotloop.app.run.start import run_loop
from aotloop.app.ship.plan_graph import AS_GRAPHS, commit_title, draft_of, is_made_by_us, is_of
from aotloop.config.schema import Config
from aotloop.core.commands import commands_of
from aotloop.core.events import StopRequested
from aotloop.core.graph.board import Board
from aotloop.core.model import Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.phase_progress import money_left
from aotloop.core.policy.stop_reasons import hopeless
from aotloop.errors import AotError, StateFileBusy, StateFileInvalid, Unavailable
from aotloop.execution.observer import Observer
from aotloop.exit_codes import NOT_READY
from aotloop.phases.driver.claims import Claims
from aotloop.phases.driver.driver import GraphResult
from aotloop.phases.driver.interruption import Interruptions, is_ours
from aotloop.phases.driver.turn_rules import failures_of
from aotloop.phases.project import Project
from aotloop.statefile.locate import SHIP_STATE_FILE, STATE_FILE
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import trust

GIVEN_UP = ("stalled", "exhausted", "limit")
"""Reasons, by their first word, after which the graph is not tried again."""
_BLOCKED = "blocked"
"""The graph is tried again then, unless one of its steps is the reason: other obstacles would stop one agent too."""
_ENOUGH_WITH_STALLS = 0.5
"""Share of the failures that are enough without stalls; see aotloop.core.policy.stop_reasons.stalled."""

_MOST_FAILURES = 3


def graph_store(root: Path) -> Store:
    """A separate file: a loop of the person keeps its own. A graph of an earlier version continues where it is."""
    own, before = Store(str(root / SHIP_STATE_FILE)), Store(str(root / STATE_FILE))
    if not Path(own.path).exists() and Path(before.path).exists():
        with suppress(AotError):
            loop = loop_in(before)
            if loop is not None and is_made_by_us(loop) and loop.control.status != "completed":
                return before
    return own


def refuse_others(store: Store) -> None:
    """A loop that another person or tool made, and that is not over, keeps its file."""
    try:
        loop = loop_in(store)
    except StateFileInvalid as error:
        raise _occupied(f"{store.path} cannot be read: {error.message}") from error
    except StateFileBusy as error:
        raise _occupied(error.message) from error
    if loop is not None and loop.control.status != "completed" and not is_made_by_us(loop):
        raise _occupied(f"{store.path} holds another loop, which is {loop.control.status}")


def _occupied(message: str) -> AotError:
    hint = "The work of a feature is run as such a loop: finish that one, or move it away; or use --no-graph."
    return AotError(message, hint=hint, exit_code=NOT_READY)


class WorkGraph:
    def __init__(
        self,
        project: Project,
        config: Config,
        store: Store,
        claims: Claims,
        interruptions: Interruptions,
        observers: Callable[[], Observer],
    ) -> None:
        self._project = project
        self._config = config
        self._store = store
        self._outside = Store(store.path)
        """A store as another process has it: the run takes in what is written through it."""
        self._claims = claims
        self._interruptions = interruptions
        self._observers = observers

    def is_wanted(self, loop: PhaseLoop) -> bool:
        """One graph for each stay in a phase. After a failure one agent does the phase, and knows of the failure."""
        return loop.phase in AS_GRAPHS and not loop.no_graph and not failures_of(loop)

    def run(self, loop: PhaseLoop) -> GraphResult | None:
        """None: no graph can be made of the phase."""
        before = loop_in(self._store)
        if before is None or not is_of(before, loop):
            refuse_others(self._store)
            if not self._write(loop, before):
                return None
        elif _is_given_up(before):  # by a run that died before it could say so
            return _result(before, before.control.stop_reason)
        return self._run(loop)

    def _write(self, loop: PhaseLoop, before: Loop | None) -> bool:
        """Whether a graph could be made. A plan may have no steps, or steps that depend on each other in a circle."""
        try:
            draft = draft_of(self._project, loop, before)
            if draft is not None:
                write(self._store, draft, before=before, request=loop.feature, accept=self._accept)
        except StateFileInvalid as error:
            self._claims.warn(f"no graph can be made of the plan, so one agent does it: {error.message}")
            return False
        return draft is not None

    def _accept(self, commands: list[str]) -> None:
        """The person agreed to run the acceptance tests before the first phase."""
        with suppress(Unavailable):  # if the home folder is read-only, only the memory of it is lost
            trust(self._store.path, commands)

    def _run(self, loop: PhaseLoop) -> GraphResult:
        self._bill = f"{loop.phase} as a graph, {loop.phase_started_at}, round {loop.fix_review_cycles + 1}"
        self._charge()
        if not is_ours(self._claims.loop):  # a run that died had spent all the money
            return GraphResult(reason=self._claims.loop.stop_reason)
        accepted = commands_of(self._store.load())
        wishes = RunOptions(
            limits=self._limits(), is_accepted=lambda loop: commands_of(loop) == accepted, commit_title=commit_title
        )
        with self._interruptions.watching(self._watch):
            ending = run_loop(self._store, self._config, wishes, self._observers())
        if ending.signal is not None:
            self._interruptions.note(ending.signal)
        self._charge()
        return _result(ending.loop, ending.reason)

    def _limits(self) -> dict[str, float]:
        left = money_left(self._claims.loop)
        return {} if left is None else {"max_cost_usd": self._store.load().control.cost_usd + left}

    def _watch(self, loop: PhaseLoop) -> None:
        """Runs in a thread of its own."""
        control = self._outside.load().control
        if not is_ours(loop) and control.status == "running" and not control.stop_requested:
            reason = (loop.stop_reason or f"the loop of the feature is {loop.status}").removeprefix("user: ")
            apply(self._outside, StopRequested(reason=reason))
        self._charge()  # last, because a phase loop that is over refuses it

    def _charge(self) -> None:
        self._claims.spent(self._bill, self._outside.load().control.cost_usd)


def _result(graph: Loop, reason: str | None) -> GraphResult:
    failures = [f"{entry.atom}: {entry.reason}" for entry in graph.trail if entry.type == "failure"]
    return GraphResult(
        reason=reason,
        is_given_up=_is_given_up(graph),
        summary="\n".join(f"{atom}: {binding.summary}" for atom, binding in graph.bindings.items()),
        failures=tuple(failures[-_MOST_FAILURES:]),
    )


def _is_given_up(graph: Loop) -> bool:
    """Whether the graph makes no progress: as a whole, or because one step fails in the same way again and again."""
    reason = graph.control.stop_reason or ""
    kind = reason.partition(":")[0]
    is_over = kind in GIVEN_UP or (kind == _BLOCKED and _names_a_step(graph, reason))
    return graph.control.status == "stopped" and is_over


def _names_a_step(graph: Loop, reason: str) -> bool:
    """Whether a step of the graph is the reason why it ended."""
    board = Board(graph)
    hopeless_steps = (hopeless(board, atom, share=_ENOUGH_WITH_STALLS) for atom in board.unresolved())
    return any(step is not None and step in reason for step in hopeless_steps)
