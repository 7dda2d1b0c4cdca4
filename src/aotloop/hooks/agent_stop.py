"""SubagentStop and Stop: the coordinator of the loop wants to end. It may end, or it is told how to continue.

| the loop, in this order                                     | answer                                          |
| ----------------------------------------------------------- | ----------------------------------------------- |
| is not of this session, or this agent does not coordinate   | nothing                                         |
| does not run; agents still work; its direction is changing  | allow                                           |
| is asked to stop                                            | stops (`user:`), allow                          |
| has a fresh verdict that passed                             | completes, allow; or it stops (`blocked:`)      |
| waits for nothing but a judgement                           | block once: judge now; then allow: only a person |
| is all resolved, with no fresh verdict                      | block: verify now; the second time it stops     |
| is all resolved, but its fresh verdict fails                | repairs, block; or it stops (`exhausted:`)      |
| cannot continue                                             | block once: verify now; then it stops           |
| was sent back many times, and no attempt ended              | stops (`stalled:`), allow                       |
| anything else                                               | block: what is ready, what failed, which way    |

Iterations are generations, as in a run. A generation runs with each answer below the third. It continues through many
stops until enough attempts have ended in it (core.handlers.generations), or nothing can continue. Then it is judged,
after its verdict if one is due. Hooks never run checks.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Callable
from functools import cached_property

import msgspec

from aotloop.core import events
from aotloop.core.checks.checklist import JUDGED, base_case_tree, leaves
from aotloop.core.effects import Backtracked, Effect, Exhausted
from aotloop.core.graph.board import Board
from aotloop.core.handlers.generations import is_begun, lasts
from aotloop.core.limits import limits_of
from aotloop.core.machine import advance
from aotloop.core.model import Asked, Loop, Verdict
from aotloop.core.objective import fresh_verdict
from aotloop.core.policy.stop_reasons import (
    exhausted,
    find_a_way_out,
    hopeless,
    is_all_resolved,
    over_limit,
    stalled,
    unmendable,
)
from aotloop.hooks.answers import Allow, Answer, Block
from aotloop.hooks.outlook import Outlook, outlook
from aotloop.hooks.payload import COORDINATOR, MOST_IN_VAIN, Payload
from aotloop.hooks.stop_instructions import ask_a_person, go_on, judge_now, verify_now

ALL_RESOLVED = "nothing that is required is unresolved"


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    commit: str | None = None
    most_in_vain: int = MOST_IN_VAIN
    objection: Callable[[Loop], str | None] = lambda _: None
    """Why the loop may not complete: the agreement was changed. Called only if the loop would complete."""
    is_ours: Callable[[Verdict], bool] = lambda _: True
    """Whether a program of ours reached this passing verdict. Asked only if the loop would complete."""


def decide(payload: Payload, loop: Loop, now: Circumstances) -> Answer:
    """Only the machine changes the loop."""
    control = loop.control
    if (
        not payload.session_id
        or payload.session_id != control.session_id
        or payload.agent_type not in (None, COORDINATOR)
    ):
        return Answer()
    if control.status != "running" or payload.others_in_background():
        return Allow()
    if control.stop_requested:  # also if a change of direction is still open
        reason = control.stop_reason or "stop requested"
        return _Turn(payload, loop, now).stop(f"user: {reason.removeprefix('user: ')}")
    if control.redirect_requested:
        return Allow()
    return _Turn(payload, loop, now).answer()


class _Turn:
    def __init__(self, payload: Payload, loop: Loop, now: Circumstances) -> None:
        self._payload = payload
        self._loop = loop
        self._now = now
        self._board = Board(loop, is_for_once=True)
        self._last = loop.control.steering
        self._is_in_vain = self._last.mark == mark_of(loop)
        self._is_stuck = False

    def answer(self) -> Answer:
        verdict = self._fresh()
        if verdict is not None and verdict.passed:
            why = self._now.objection(self._loop)
            return self._complete(verdict) if why is None else self.stop(f"blocked: {why}")
        if verdict is not None and not verdict.failing and self._is_all_resolved:
            return self._wait_for_judges()
        if self._last.asked and (reason := self._why_over()) is not None:
            return self.stop(reason)  # the instruction was given before, and everything was tried
        self._begin()
        if verdict is None and self._last.asked != "verify" and self._is_verdict_due():
            why = ALL_RESOLVED if self._is_all_resolved else "every iteration is to be verified"
            return self._send_back(verify_now(why), asked="verify")
        return self._go_on(verdict)

    def _begin(self) -> None:
        """Begins a generation, if none is running and another is allowed."""
        control, limits = self._loop.control, limits_of(self._loop.objective.constraints)
        if control.iteration < limits.max_iterations:
            self._advance(events.GenerationBegan())

    def _go_on(self, verdict: Verdict | None) -> Answer:
        before = self._loop.control.prev_pending_count
        effects = self._judge()
        if self._is_all_resolved:
            if verdict is None:
                return self.stop("stalled: the base case was to be verified, but it was not")
            effects += self._mend(verdict)
            if Exhausted(atom=None) in effects:
                return self.stop(unmendable(verdict.failing))
        else:
            effects += self._find_a_way()
        if self._is_all_resolved and self._fresh() is None:  # the new choice had been resolved before
            return self._send_back(verify_now(ALL_RESOLVED), asked="verify")
        if (reason := self._why_over()) is not None:
            if self._fresh() is None and self._last.asked != "verify":
                return self._send_back(verify_now(f"this is the last time ({reason})"), asked="verify")
            return self.stop(reason)
        is_session = self._payload.agent_type is None
        return self._send_back(go_on(self._board, self._ahead, effects, before=before, is_session=is_session))

    def _judge(self) -> list[Effect]:
        """A generation in which no attempt ended is not judged, because waiting is not a failure."""
        if not self._is_generation_over() or not self._loop.control.generation.outcomes:
            return []
        return self._advance(events.GenerationEnded(at=self._now.at))

    def _is_generation_over(self) -> bool:
        can_go_on = not self._ahead.is_empty and self._held() is None
        return self._is_all_resolved or not (lasts(self._board) and can_go_on)

    def _find_a_way(self) -> list[Effect]:
        """Looks for an alternative to an atom that is required again, or to a command, if only failed ones are left."""
        if self._ahead.is_empty:
            return find_a_way_out(self._board, self._advance, self._now.at)
        if (held := self._held()) is None:
            return []
        reason = "it failed, and nothing has changed since"
        found = self._advance(events.AlternativeSought(atom=held, reason=reason, at=self._now.at))
        self._is_stuck = not any(isinstance(effect, Backtracked) for effect in found)
        return found

    def _held(self) -> str | None:
        """A failed command, if only such commands are ready and the last turn gave no reason to run one again."""
        if not self._is_in_vain or self._ahead.left_in_progress or self._ahead.to_check:
            return None
        ready = [self._board.atoms[atom_id] for atom_id in self._board.best_ready()]
        return ready[0].id if ready and all(atom.run is not None and atom.failures for atom in ready) else None

    def _mend(self, verdict: Verdict) -> list[Effect]:
        evidence = f"so found the verification of {verdict.at}; verify_checklist.py shows it"
        return self._advance(events.BaseCaseFailed(failing=dict.fromkeys(verdict.failing, evidence), at=self._now.at))

    def _complete(self, verdict: Verdict) -> Answer:
        self._begin()
        self._advance(events.LoopCompleted(commit=verdict.commit))
        return Allow(message=f"The loop is completed: the base case holds, verified at {verdict.at}.")

    def _wait_for_judges(self) -> Answer:
        """If only a person's decision is missing, the session may end at any time, and nothing is counted."""
        if self._has_waited():
            return Allow(message=ask_a_person())
        self._begin()
        if self._last.asked != "judge":
            tree = base_case_tree(self._loop.objective.base_case)
            return self._send_back(
                judge_now([leaf.name for leaf in leaves(tree) if leaf.check.type in JUDGED]), asked="judge"
            )
        self._advance(events.Steered(mark=mark_of(self._loop)))
        return Allow(message=ask_a_person())

    def _has_waited(self) -> bool:
        return self._is_in_vain and not self._last.sent_back

    def _is_verdict_due(self) -> bool:
        if self._is_all_resolved:
            return True
        return self._loop.objective.constraints.verify_each_iteration and self._is_generation_over()

    def _why_over(self) -> str | None:
        """The reason to stop, in the order of decisions. A failing base case is another question."""
        control, limits = self._loop.control, limits_of(self._loop.objective.constraints)
        if not self._is_all_resolved and (self._ahead.is_empty or self._is_stuck):
            return exhausted(self._board)
        is_open = is_begun(control.generation)
        return self._hopeless() or stalled(self._board, limits) or over_limit(self._board, limits, is_open=is_open)

    def _hopeless(self) -> str | None:
        failing = (atom.id for atom in self._loop.atoms if atom.alike)
        named = next(filter(None, (hopeless(self._board, atom_id) for atom_id in failing)), None)
        return f"blocked: {named}" if named else None

    def _send_back(self, block: Block, asked: Asked = "") -> Answer:
        if self._is_in_vain and self._last.sent_back >= self._now.most_in_vain:
            return self.stop(f"stalled: it was sent back {self._last.sent_back} times in a row, and no attempt ended")
        mark = mark_of(self._loop)
        self._advance(events.Steered(mark=mark, is_sent_back=True, is_in_vain=self._is_in_vain, asked=asked))
        return block

    def stop(self, reason: str) -> Answer:
        self._advance(events.LoopStopped(reason=reason))
        return Allow(message=f"The loop has stopped. {reason}")

    def _fresh(self) -> Verdict | None:
        verdict = fresh_verdict(self._loop, self._now.commit)
        return None if verdict is not None and verdict.passed and not self._now.is_ours(verdict) else verdict

    @cached_property
    def _is_all_resolved(self) -> bool:
        return is_all_resolved(self._board)

    @cached_property
    def _ahead(self) -> Outlook:
        return outlook(self._board)

    def _advance(self, event: events.Event) -> list[Effect]:
        effects = advance(self._loop, event, self._board)
        if effects:  # effects that change the graph say so
            vars(self).pop("_is_all_resolved", None)
            vars(self).pop("_ahead", None)
        return effects


def mark_of(loop: Loop) -> str:
    """The mark changes only after an attempt has ended, or after a person's correction. Neither can happen forever."""
    control = loop.control
    return f"{crc32(msgspec.json.encode((control.tried, control.epoch, len(loop.corrections)))):08x}"
