"""Stop of the session that ships a feature: it may end, or it is told how the phase it is in goes on.

| the loop, in this order                            | answer                                                  |
| -------------------------------------------------- | ------------------------------------------------------- |
| is none of this session's                          | nothing                                                 |
| waits for a person's word on the acceptance tests  | allow, and tell how it is given                         |
| does not run; agents still work                    | allow                                                   |
| is promised to be shipped, and everything is proven | completes, allow: nothing begins again                 |
| was sent back again and again, and nothing was done | stops (`stalled:`), allow                              |
| has used up its iterations, or cannot be forced on | stops (`limit:`), allow                                 |
| anything else                                      | block: what the phase owes, why a claim does not count  |

One iteration is counted for each answer below the fourth. Nothing is run: of the acceptance tests counts what they said
when a receipt was filed at the very commit that is checked out.
"""

from __future__ import annotations

import re

import msgspec

from aotloop.core.phases.effects import AskForPromise, GoOn, PhaseEffect, Stop
from aotloop.core.phases.events import IterationEnded, LoopStopped, PhaseEvent
from aotloop.core.phases.machine import advance
from aotloop.core.phases.model import PHASES, PhaseLoop
from aotloop.core.phases.moving import Moved
from aotloop.core.phases.working import receipt_of
from aotloop.hooks.answers import Allow, Answer, Block, Context, Plain
from aotloop.hooks.told import Told
from aotloop.hooks.typed import typed
from aotloop.hooks.words import line
from aotloop.phases.telling import anchor, said_after
from aotloop.session.next_step import how_to_approve, how_to_file
from aotloop.statefile.phase_store import PhaseStore

LONGEST = 8000
"""Of an instruction. What a client is told is read by a model that has other things to read."""
_LONGEST_MESSAGE = 50_000
_PROMISE = re.compile(r"<promise>\s*(.{1,500}?)\s*</promise>", re.DOTALL)


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    most_in_vain: int
    last_commit_at: str | None = None
    """When the last commit was made here; None: nobody knows."""
    script: str = "ship.py"
    """As an agent calls it."""


def is_driven_by(told: Told, loop: PhaseLoop) -> bool:
    """By the session itself, or one of its agents."""
    return bool(told.session_id) and told.session_id == loop.session_id and loop.status in ("running", "waiting")


def decide(told: Told, store: PhaseStore, now: Circumstances) -> Answer:
    loop = store.load()
    if not told.session_id or told.session_id != loop.session_id or told.agent_type is not None:
        return Answer()
    if loop.status == "waiting":
        return Allow(message=line(how_to_approve(loop, typed(told)), 600))
    if loop.status != "running" or told.others_in_background():
        return Allow()
    return _turn(told, store, loop, now)


def _turn(told: Told, store: PhaseStore, loop: PhaseLoop, now: Circumstances) -> Answer:
    """What looks into receipts takes longer to load than all else here, and is loaded where it is needed."""
    refused: tuple[PhaseEffect, ...] = ()
    if (promised := promise_in(told.last_assistant_message or "")) is not None:
        after, refused = _promised(store, promised, told.session_id)
        if after.status == "completed":
            return Allow(message=f"Shipped: {line(loop.feature)}. Every phase is proven, and the loop is over.")
    if loop.phase_iteration >= now.most_in_vain and is_in_vain(loop, now.last_commit_at):
        return _stalled(store, loop, now.at)
    after, effects = _ended(store, loop, told.session_id, now.at)
    if after.status == "stopped":
        return _over(effects)
    said = said_after((*refused, *_still_owed(effects, after)), after)
    return Block(reason=f"{bounded(said)}\n{how_to_file(after, now.script)}", message=_where(after))


def promise_in(message: str) -> str | None:
    """The last one of what the agent said at the end of its turn."""
    found = _PROMISE.findall(message[-_LONGEST_MESSAGE:])
    return found[-1] if found else None


def is_in_vain(loop: PhaseLoop, last_commit_at: str | None) -> bool:
    """Whether there is no sign of work since the phase began: no commit, no receipt that was tried, no checkpoint."""
    since = loop.phase_started_at or loop.started_at
    signs = [one.timestamp for one in loop.errors if one.phase == loop.phase]
    signs += [one.timestamp for one in loop.checkpoints if one.phase == loop.phase]
    if last_commit_at is None or last_commit_at > since:  # in the same second: that of the phase before
        return False
    return not any(one >= since for one in signs)


def _promised(store: PhaseStore, text: str, session: str) -> Moved:
    from aotloop.phases.filing import make_promise  # noqa: PLC0415
    from aotloop.phases.ground import Ground  # noqa: PLC0415

    made = make_promise(Ground(store), text, session, runs_tests=False)
    return made.loop, made.effects


def _stalled(store: PhaseStore, loop: PhaseLoop, at: str) -> Answer:
    turns = loop.phase_iteration + 1
    reason = f"stalled: {turns} turns in {loop.phase}, and nothing was committed, filed or noted down"
    return _over(_told(store, LoopStopped(at=at, reason=reason))[1])


def _ended(store: PhaseStore, loop: PhaseLoop, session: str, at: str) -> Moved:
    if loop.phase != "test":
        return _told(store, IterationEnded(at=at, session_id=session))
    from aotloop.phases.filing import end_turn  # noqa: PLC0415
    from aotloop.phases.ground import Ground  # noqa: PLC0415

    ended = end_turn(Ground(store), session)  # whether it may be forced depends on what the tests said last
    return ended.loop, ended.effects


def _told(store: PhaseStore, event: PhaseEvent) -> Moved:
    def change(loop: PhaseLoop) -> tuple[PhaseLoop, Moved]:
        after, effects = advance(loop, event)
        return after, (after, effects)

    return store.update(change)


def _still_owed(effects: tuple[PhaseEffect, ...], loop: PhaseLoop) -> tuple[PhaseEffect, ...]:
    """Whoever has filed the receipt of ship owes the promise, and nothing else."""
    if loop.phase != "ship" or receipt_of(loop, "ship") is None:
        return effects
    return tuple(
        AskForPromise(promise=loop.completion_promise) if one == GoOn(phase="ship") else one for one in effects
    )


def _over(effects: tuple[PhaseEffect, ...]) -> Answer:
    reason = next((one.reason for one in effects if isinstance(one, Stop)), "")
    return Allow(message=f"The phase loop has stopped. {line(reason, 400)}")


def _where(loop: PhaseLoop) -> str:
    turn = f"turn {loop.phase_iteration + 1} of {loop.max_phase_iterations}"
    return f"Shipping {line(loop.feature, 80)}: {loop.phase} ({PHASES.index(loop.phase) + 1} of {len(PHASES)}), {turn}."


# --- a session that forgets --------------------------------------------------------------------------------------


def at_start(told: Told, loop: PhaseLoop, script: str) -> Answer:
    if not is_driven_by(told, loop) or told.agent_type is not None:
        return Answer()
    return Context(text=_anchor(loop, script))


def before_compaction(told: Told, loop: PhaseLoop, script: str) -> Answer:
    if not is_driven_by(told, loop) or told.agent_type is not None:
        return Answer()
    kept = "Keep in the summary that this session ships a feature, and how far it is:"
    return Plain(text=f"{kept}\n{_anchor(loop, script)}")


def _anchor(loop: PhaseLoop, script: str) -> str:
    return f"{bounded(anchor(loop))}\nNext: `{script} status` says what is to be done now. Go on with it."


def bounded(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
