"""approve, refuse, advance, resume, cancel: steps of shipping that a person decides; a hook saw them typed.

Only cancel needs no person: it claims nothing.
"""

from __future__ import annotations

from typing import Any

from aotloop.app.run.stop import stop_work_of
from aotloop.app.session.typed_approvals import began_in_a_prompt, require_word
from aotloop.clock import now
from aotloop.core.phases import events
from aotloop.phases import receipts
from aotloop.scripts.ship.ship_session import LIMITS, answer_to, ground_of, permit_of, session_of, wanted_in
from aotloop.trust import human_approvals


def approve(given: dict[str, Any]) -> dict[str, Any]:
    session, ground = session_of(given), ground_of(given)
    loop = ground.store.load()
    word = require_word("approve", session, ground.store.path, loop)
    began_in_a_prompt(ground.store.path, loop)  # a person who agrees to tests wants them run
    filed = receipts.approve(ground, permit=permit_of(ground, session))
    human_approvals.take(word)
    return {"success": filed.is_accepted, **answer_to(ground, filed)}


def refuse(given: dict[str, Any]) -> dict[str, Any]:
    ground = ground_of(given)
    word = require_word("refuse", session_of(given), ground.store.path, ground.store.load())
    filed = receipts.refuse(ground, word.text or given["reason"] or "the person has refused them")
    human_approvals.take(word)
    return {"success": True, **answer_to(ground, filed)}


def advance(given: dict[str, Any]) -> dict[str, Any]:
    session, ground = session_of(given), ground_of(given)
    word = require_word("advance", session, ground.store.path, ground.store.load())
    reason = word.text or given["reason"] or "wants to go on"
    filed = receipts.force(ground, reason, permit=permit_of(ground, session))
    human_approvals.take(word)
    return {"success": True, **answer_to(ground, filed)}


def resume(given: dict[str, Any]) -> dict[str, Any]:
    session, ground = session_of(given), ground_of(given)
    word = require_word("resume", session, ground.store.path, ground.store.load())
    wanted = wanted_in(word.options)
    limits: dict[str, Any] = {name: wanted.get(name) for name in LIMITS}
    at = now()
    bound = events.SessionBound(at=at, session_id=session)
    filed = receipts.tell(ground, bound, events.LoopResumed(at=at, **limits))
    human_approvals.take(word)
    return {"success": True, **answer_to(ground, filed)}


def cancel(given: dict[str, Any]) -> dict[str, Any]:
    ground = ground_of(given, is_to_change=False)
    reason = f"user: {given['reason'] or 'cancelled'}"
    filed = receipts.tell(ground, events.LoopCancelled(at=now(), reason=reason))
    stop_work_of(ground.store.path, filed.loop)
    return {"success": True, **answer_to(ground, filed)}
