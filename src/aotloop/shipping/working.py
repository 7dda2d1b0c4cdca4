"""A phase that is done as a graph: the loop of its atoms is written where loops are, and run to its end like any other.

What it costs is told to the phase loop while it runs; and if that one is stopped meanwhile, it is stopped too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from aotloop.alignment.applying import loop_in, write
from aotloop.app import apply
from aotloop.config import Config
from aotloop.core.board import Board
from aotloop.core.commands import commands_of
from aotloop.core.endings import hopeless
from aotloop.core.events import StopRequested
from aotloop.core.model import Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.spending import money_left
from aotloop.errors import AotError, StateFileBusy, StateFileInvalid, Unavailable
from aotloop.launch import Wishes, run_loop
from aotloop.phases.ground import Ground
from aotloop.runner.runner import Ending
from aotloop.runner.spectator import Spectator
from aotloop.shipping.briefing import failures_of
from aotloop.shipping.claims import Claims
from aotloop.shipping.graphs import AS_GRAPHS, draft_of, is_made_by_us, is_of
from aotloop.shipping.interrupting import Interruptions, is_ours
from aotloop.statefile.store import Store
from aotloop.trust import trust

GIVEN_UP = ("stalled", "exhausted", "limit")
"""Reasons, by their first word, after which the graph is not tried again."""
_BLOCKED = "blocked"
"""It is tried again then, unless a step is why: with what else is in the way, an agent alone would not get further."""
_ENOUGH_WITH_STALLS = 0.5
"""Of the failures that tell by themselves; see aotloop.core.endings.stalled."""

NOT_READY = 3
_MOST_FAILURES = 3


def refuse_others(store: Store) -> None:
    """Somebody else's loop that is not over stays where it is."""
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


class Working:
    def __init__(
        self,
        ground: Ground,
        config: Config,
        store: Store,
        claims: Claims,
        interruptions: Interruptions,
        spectators: Callable[[], Spectator],
    ) -> None:
        self._ground = ground
        self._config = config
        self._store = store
        self._outside = Store(store.path)
        """As another process sees it: what is written through this one is news to whoever runs the loop."""
        self._claims = claims
        self._interruptions = interruptions
        self._spectators = spectators

    def is_wanted(self, loop: PhaseLoop) -> bool:
        """Once for each stay in a phase; what did not lead there is left to one agent, which is told so."""
        return loop.phase in AS_GRAPHS and not loop.no_graph and not failures_of(loop)

    def run(self, loop: PhaseLoop) -> Ending | None:
        """None: there is nothing to make a graph of."""
        before = loop_in(self._store)
        if before is None or not is_of(before, loop):
            refuse_others(self._store)
            if not self._write(loop, before):
                return None
        elif self.is_given_up():  # by a run that died before it could say so
            return Ending(status="stopped", reason=before.control.stop_reason)
        return self._run(loop)

    def is_given_up(self) -> bool:
        """It leads nowhere: the graph as a whole, or a step of it that fails in the same way again and again."""
        loop = self._store.load()
        reason = loop.control.stop_reason or ""
        word = reason.partition(":")[0]
        is_over = word in GIVEN_UP or (word == _BLOCKED and _is_named(loop, reason))
        return loop.control.status == "stopped" and is_over

    def summary(self) -> str:
        """What its atoms say that they did."""
        return "\n".join(f"{one}: {binding.summary}" for one, binding in self._store.load().bindings.items())

    def failures(self) -> list[str]:
        """Why its atoms failed, the latest last."""
        trail = self._store.load().trail
        return [f"{one.atom}: {one.reason}" for one in trail if one.type == "failure"][-_MOST_FAILURES:]

    def _write(self, loop: PhaseLoop, before: Loop | None) -> bool:
        """Whether a graph could be made: steps may depend on each other in a circle, or there are none."""
        try:
            draft = draft_of(self._ground, loop, before)
            if draft is not None:
                write(self._store, draft, before=before, request=loop.feature, accept=self._accept)
        except StateFileInvalid as error:
            self._claims.warn(f"no graph can be made of the plan, so one agent does it: {error.message}")
            return False
        return draft is not None

    def _accept(self, commands: list[str]) -> None:
        """The person agreed to the acceptance tests being run, before the first phase."""
        with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the work
            trust(self._store.path, commands)

    def _run(self, loop: PhaseLoop) -> Ending:
        self._bill = f"{loop.phase} as a graph, {loop.phase_started_at}, round {loop.fix_review_cycles + 1}"
        self._settle()
        if not is_ours(self._claims.loop):  # what a run that died had spent was all there is
            return Ending(status="stopped", reason=self._claims.loop.stop_reason)
        mine = commands_of(self._store.load())
        wishes = Wishes(limits=self._limits(), is_accepted=lambda now: commands_of(now) == mine)
        with self._interruptions.watching(self._look):
            ending = run_loop(self._store, self._config, wishes, self._spectators())
        if ending.signal is not None:
            self._interruptions.note(ending.signal)
        self._settle()
        return ending

    def _limits(self) -> dict[str, float]:
        left = money_left(self._claims.loop)
        return {} if left is None else {"max_cost_usd": self._store.load().control.cost_usd + left}

    def _look(self, loop: PhaseLoop) -> None:
        """In a thread of its own."""
        control = self._outside.load().control
        if not is_ours(loop) and control.status == "running" and not control.stop_requested:
            reason = (loop.stop_reason or f"the loop of the feature is {loop.status}").removeprefix("user: ")
            apply(self._outside, StopRequested(reason=reason))
        self._settle()  # the last thing: a loop that is over is told of no money

    def _settle(self) -> None:
        self._claims.spent(self._bill, self._outside.load().control.cost_usd)


def _is_named(loop: Loop, reason: str) -> bool:
    """Whether a step of the graph is why it ended."""
    board = Board(loop)
    named = (hopeless(board, one, share=_ENOUGH_WITH_STALLS) for one in board.unresolved())
    return any(one is not None and one in reason for one in named)
