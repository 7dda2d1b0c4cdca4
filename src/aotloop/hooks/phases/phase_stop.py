"""Stop of the session that ships a feature: it may end, or it is told how its phase continues.

| the loop, in this order                            | answer                                                  |
| -------------------------------------------------- | ------------------------------------------------------- |
| is not of this session                             | nothing                                                 |
| waits for a person's word on the acceptance tests  | allow, and tell how it is given                         |
| does not run; agents still work                    | allow                                                   |
| is promised to be shipped, and everything is proven | completes, allow: nothing begins again                 |
| was sent back many times, and nothing was done     | stops (`stalled:`), allow                               |
| has used up its iterations, or cannot be forced on | stops (`limit:`), allow                                 |
| anything else                                      | block: what the phase owes, why a claim does not count  |

One iteration is counted for each answer below the fourth. Nothing is run: the acceptance tests count with their result
from a receipt that was filed at the checked-out commit.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from aotloop.app.slash_commands import how_to_approve, how_to_file
from aotloop.core.phases.effects import AskForPromise, GoOn, PhaseEffect, Stop
from aotloop.core.phases.events import Facts, IterationEnded, LoopStopped, PromiseMade
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.promise import promise_in
from aotloop.core.phases.receipts import receipt_of
from aotloop.hooks.answers import Allow, Answer, Block, Context, Plain
from aotloop.hooks.payload import Payload
from aotloop.hooks.phases.typed_commands import typed
from aotloop.phases.guidance import anchor, said_after
from aotloop.text.shorten import short_line, shorten

LONGEST = 8000
"""The most characters of an instruction, because the model has other text to read too."""


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    most_in_vain: int
    last_commit_at: str | None = None
    """The time of the last commit here; None: unknown."""
    script: str = "ship.py"
    """The script, as an agent calls it."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that were established before the decision; empty in most turns."""

    facts: Mapping[Phase, Facts] = {}
    """The facts of every receipt, for a promise."""
    tests_pass: bool | None = None
    """The last result of the tests. It decides whether `test` may be left by force."""


def is_driven_by(payload: Payload, loop: PhaseLoop) -> bool:
    """Driven by the session itself, or by one of its agents."""
    return bool(payload.session_id) and payload.session_id == loop.session_id and loop.status in ("running", "waiting")


def is_end_of_turn(payload: Payload, loop: PhaseLoop) -> bool:
    """Whether a turn ends: the session drives the loop, the loop runs, and no agent of the session works."""
    is_driver = bool(payload.session_id) and payload.session_id == loop.session_id and payload.agent_type is None
    return is_driver and loop.status == "running" and not payload.others_in_background()


def decide(
    payload: Payload, loop: PhaseLoop, circumstances: Circumstances, evidence: Evidence | None = None
) -> tuple[PhaseLoop, Answer]:
    """The next loop. Only the machine changes it."""
    if not payload.session_id or payload.session_id != loop.session_id or payload.agent_type is not None:
        return loop, Answer()
    if loop.status == "waiting":
        return loop, Allow(message=short_line(how_to_approve(loop, typed(payload)), 600))
    if not is_end_of_turn(payload, loop):
        return loop, Allow()
    return _turn(payload, loop, circumstances, evidence or Evidence())


def _turn(
    payload: Payload, loop: PhaseLoop, circumstances: Circumstances, evidence: Evidence
) -> tuple[PhaseLoop, Answer]:
    at, session = circumstances.at, payload.session_id
    refused: tuple[PhaseEffect, ...] = ()
    if (promised := promise_in(payload.last_assistant_message or "")) is not None:
        loop, refused = advance(loop, PromiseMade(at=at, session_id=session, text=promised, facts=evidence.facts))
        if loop.status == "completed":
            told_person = f"Shipped: {short_line(loop.feature)}. Every phase is proven, and the loop is over."
            return loop, Allow(message=told_person)
    if loop.phase_iteration >= circumstances.most_in_vain and is_in_vain(loop, circumstances.last_commit_at):
        return _over(*advance(loop, LoopStopped(at=at, reason=_stalled(loop))))
    loop, effects = advance(loop, IterationEnded(at=at, session_id=session, tests_pass=evidence.tests_pass))
    if loop.status == "stopped":
        return _over(loop, effects)
    instruction = said_after((*refused, *_still_owed(effects, loop)), loop)
    return loop, Block(
        reason=f"{shorten(instruction, LONGEST)}\n{how_to_file(loop, circumstances.script)}", message=_where(loop)
    )


def is_in_vain(loop: PhaseLoop, last_commit_at: str | None) -> bool:
    """Whether there is no sign of work since the phase began: no commit, no filed receipt, no checkpoint."""
    since = loop.phase_started_at or loop.started_at
    signs = [error.timestamp for error in loop.errors if error.phase == loop.phase]
    signs += [checkpoint.timestamp for checkpoint in loop.checkpoints if checkpoint.phase == loop.phase]
    if last_commit_at is None or last_commit_at > since:  # in the same second: the commit of the previous phase
        return False
    return not any(sign >= since for sign in signs)


def _stalled(loop: PhaseLoop) -> str:
    turns = loop.phase_iteration + 1
    return f"stalled: {turns} turns in {loop.phase}, and nothing was committed, filed or noted down"


def _still_owed(effects: tuple[PhaseEffect, ...], loop: PhaseLoop) -> tuple[PhaseEffect, ...]:
    """With a receipt of ship, only the promise is owed."""
    if loop.phase != "ship" or receipt_of(loop, "ship") is None:
        return effects
    return tuple(
        AskForPromise(promise=loop.completion_promise) if effect == GoOn(phase="ship") else effect for effect in effects
    )


def _over(loop: PhaseLoop, effects: tuple[PhaseEffect, ...]) -> tuple[PhaseLoop, Answer]:
    reason = next((effect.reason for effect in effects if isinstance(effect, Stop)), "")
    return loop, Allow(message=f"The phase loop has stopped. {short_line(reason, 400)}")


def _where(loop: PhaseLoop) -> str:
    phase = f"{loop.phase} ({PHASES.index(loop.phase) + 1} of {len(PHASES)})"
    turn = f"turn {loop.phase_iteration + 1} of {loop.max_phase_iterations}"
    return f"Shipping {short_line(loop.feature, 80)}: {phase}, {turn}."


# --- a session that forgets --------------------------------------------------------------------------------------


def at_start(payload: Payload, loop: PhaseLoop, script: str) -> Answer:
    if not is_driven_by(payload, loop) or payload.agent_type is not None:
        return Answer()
    return Context(text=_anchor(loop, script))


def before_compaction(payload: Payload, loop: PhaseLoop, script: str) -> Answer:
    if not is_driven_by(payload, loop) or payload.agent_type is not None:
        return Answer()
    kept = "Keep in the summary that this session ships a feature, and how far it is:"
    return Plain(text=f"{kept}\n{_anchor(loop, script)}")


def _anchor(loop: PhaseLoop, script: str) -> str:
    return f"{shorten(anchor(loop), LONGEST)}\nNext: `{script} status` says what is to be done now. Go on with it."
