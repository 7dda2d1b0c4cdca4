"""What a turn did reaches the branch: merged off-tree with what is there, and landed in one step. Once, never twice."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import msgspec

from aotloop.errors import AotError, refusal
from aotloop.runner.branch import Branch, Clash
from aotloop.runner.threads import in_thread
from aotloop.runner.work import Work

_BUSY_PATIENCE, _PAUSE = 5.0, 0.2
"""Seconds to wait for a person's git."""

_SHOWN = 5


class Landed(msgspec.Struct, frozen=True, kw_only=True):
    commit: str


class Conflicting(msgspec.Struct, frozen=True, kw_only=True):
    """With what was committed meanwhile: it has to be done again."""

    reason: str


class InTheWay(msgspec.Struct, frozen=True, kw_only=True):
    """Something of a person's is; the result is kept until that is settled."""

    reason: str


async def land(branch: Branch, work: Work, run_id: str) -> Landed | Conflicting | InTheWay:
    try:
        landed = await in_thread(partial(branch.landed_before, work, run_id))
        return Landed(commit=landed) if landed is not None else await _land(branch, work)
    except (AotError, OSError) as error:
        return InTheWay(reason=refusal(error).message)


async def _land(branch: Branch, work: Work) -> Landed | Conflicting | InTheWay:
    deadline = time.monotonic() + _BUSY_PATIENCE
    while True:
        ready = await in_thread(partial(branch.prepare, work))
        if isinstance(ready, Clash):
            paths = ", ".join(ready.paths[:_SHOWN])
            return Conflicting(reason=f"it conflicts with what was committed meanwhile: {paths}")
        landing = await in_thread(partial(branch.land, ready))
        if landing.result == "landed" and landing.commit is not None:
            return Landed(commit=landing.commit)
        if landing.result == "blocked" and (not landing.is_busy or time.monotonic() > deadline):
            return InTheWay(reason=landing.reason)
        await asyncio.sleep(_PAUSE if landing.is_busy else 0)
