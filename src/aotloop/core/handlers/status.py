"""Events of a whole loop: begun, stopped, judged, completed, interrupted, and its cost."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.events import CoordinatorChanged, SessionBound, Steered
from aotloop.core.graph.board import Board
from aotloop.core.handlers.backtracking import begin_round
from aotloop.core.measure import shares_of
from aotloop.core.model import Control, Steering
from aotloop.core.objective import digest_of
from aotloop.core.policy.progress import together
from aotloop.core.transitions import LOOP, LoopMove, illegal


def start(board: Board, event: events.LoopStarted) -> list[Effect]:
    loop = board.loop
    status = _moved(board, event, "start")
    if status != loop.control.status:
        steering = Steering(coordinator=loop.control.steering.coordinator)  # which may still run in the background
        loop.control = replace(loop.control, status=status, stop_requested=False, stop_reason=None, steering=steering)
        loop.control = replace(loop.control, paused=False)
    if loop.control.shares is None:
        loop.control = replace(loop.control, shares=shares_of(loop))
    if loop.control.fewest_unresolved is None:
        loop.control = replace(loop.control, fewest_unresolved=board.unresolved_count())
    _reopen_given_up_groups(board)
    run_id = event.run_id if event.run_id is not None else loop.control.run_id
    digest = event.objective_digest if event.objective_digest is not None else loop.control.objective_digest
    if (run_id, digest) != (loop.control.run_id, loop.control.objective_digest):
        loop.control = replace(loop.control, run_id=run_id, objective_digest=digest)
    return []


def _reopen_given_up_groups(board: Board) -> None:
    """Files of the previous version may have a group in which every choice was given up for good."""
    for name, group in list(board.loop.or_groups.items()):
        if group.selected in group.failed or group.selected in group.blamed:
            begin_round(board, name)


def stop(board: Board, event: events.LoopStopped) -> list[Effect]:
    loop = board.loop
    status = _moved(board, event, "stop")
    if status != loop.control.status:
        reason = event.reason if event.reason is not None else loop.control.stop_reason
        loop.control = replace(loop.control, status=status, stop_reason=reason, paused=False)
    return []


def request_stop(board: Board, event: events.StopRequested) -> list[Effect]:
    loop = board.loop
    if loop.control.status == "stopped":
        return []
    if loop.control.status != "running":
        raise illegal(loop, event, f"the loop is {loop.control.status}, not running")
    reason = event.reason if event.reason is not None else loop.control.stop_reason
    loop.control = replace(loop.control, stop_requested=True, stop_reason=reason)
    return []


def pause(board: Board, event: events.PauseRequested) -> list[Effect]:
    loop = board.loop
    if loop.control.status != "running":
        raise illegal(loop, event, f"the loop is {loop.control.status}, not running")
    loop.control = replace(loop.control, paused=True)
    return []


def end_pause(board: Board, _: events.PauseEnded) -> list[Effect]:
    board.loop.control = replace(board.loop.control, paused=False)
    return []


def record_verdict(board: Board, event: events.VerdictReached) -> list[Effect]:
    loop = board.loop
    verdict, last = event.verdict, loop.control.verdict
    if loop.control.status == "completed":  # the recorded verdict stays valid; later findings do not undo it
        return []
    failing = len(verdict.failing)
    generation = loop.control.generation
    if last is not None and last.objective_digest == verdict.objective_digest:
        fewest = failing if last.fewest_failing is None else min(failing, last.fewest_failing)
        if last.fewest_failing is not None and failing < last.fewest_failing:
            generation = replace(generation, got_smaller=True)
        verdict = replace(verdict, fewest_failing=fewest, repair_rounds=last.repair_rounds)
    else:
        verdict = replace(verdict, fewest_failing=failing)
    loop.control = replace(loop.control, verdict=verdict, generation=generation)
    return []


def complete(board: Board, event: events.LoopCompleted) -> list[Effect]:
    loop = board.loop
    status = _moved(board, event, "complete")
    verdict = loop.control.verdict
    if loop.control.status == "stopped" and not event.confirmed:
        raise illegal(loop, event, "the loop is stopped; only a person's confirmation completes it now")
    if status != loop.control.status:
        if verdict is None or not verdict.passed:
            raise illegal(loop, event, "no passing verdict is recorded; only a verified base case completes a loop")
        if verdict.objective_digest != digest_of(loop.objective) or verdict.commit != event.commit:
            raise illegal(loop, event, "the verdict is of another objective or another commit; verify again")
        loop.control = replace(loop.control, status=status, stop_requested=False, stop_reason=None)
        loop.control = replace(loop.control, paused=False)
    return []


def request_redirect(board: Board, event: events.RedirectRequested) -> list[Effect]:
    """Running work ends now. Its results belong to an older epoch from now on, so they never count."""
    loop = board.loop
    if loop.control.status not in ("running", "stopped"):
        raise illegal(loop, event, f"the loop is {loop.control.status}; only a running or stopped loop is redirected")
    if loop.control.redirect_requested:
        return []
    for atom in loop.atoms.copy():
        if atom.status == "in_progress":
            board.put(replace(atom, status="pending"))
            loop.bindings.pop(atom.id, None)
    loop.control = replace(loop.control, redirect_requested=True, epoch=loop.control.epoch + 1)
    return []


def expire_redirect(board: Board, _: events.RedirectExpired) -> list[Effect]:
    board.loop.control = replace(board.loop.control, redirect_requested=False)
    return []


def spend(board: Board, event: events.Spent) -> list[Effect]:
    control = board.loop.control
    if event.usd < 0 or event.seconds < 0:
        raise illegal(None, event, "neither money nor time comes back")
    board.loop.control = replace(
        control,
        cost_usd=round(control.cost_usd + event.usd, 6),
        ran_seconds=round(control.ran_seconds + event.seconds, 3),
        used=together((control.used, event.used)),
    )
    return []


def _moved(board: Board, event: events.Event, move: LoopMove) -> Any:
    status = board.loop.control.status
    following = LOOP.get((status, move))
    if following is None:
        allowed = sorted({possible for (before, possible) in LOOP if before == status})
        raise illegal(board.loop, event, f"the loop is {status}; it allows: {', '.join(allowed)}")
    return following


def holding_session(control: Control) -> str | None:
    """The session that drives the loop now. A binding that is older than the loop's run does not count."""
    return control.session_id if control.status == "running" else None


def bind(board: Board, event: SessionBound) -> list[Effect]:
    control = board.loop.control
    holder = holding_session(control)
    if holder not in (None, event.session_id) and not event.take_over:
        raise illegal(board.loop, event, f"the session {holder} drives it")
    if control.session_id != event.session_id:  # agents of the session before do not coordinate it any more
        steering = replace(control.steering, coordinator="")
        board.loop.control = replace(control, session_id=event.session_id, steering=steering)
    return []


def steer(board: Board, event: Steered) -> list[Effect]:
    control = board.loop.control
    before = control.steering.sent_back if event.is_in_vain else 0
    steering = Steering(
        mark=event.mark,
        sent_back=before + 1 if event.is_sent_back else 0,
        asked=event.asked,
        coordinator=control.steering.coordinator,
    )
    board.loop.control = replace(control, steering=steering)
    return []


def name_coordinator(board: Board, event: CoordinatorChanged) -> list[Effect]:
    control = board.loop.control
    if control.steering.coordinator != event.agent:
        board.loop.control = replace(control, steering=replace(control.steering, coordinator=event.agent))
    return []
