"""fail_atom, record_probe: what an attempt, or a probe, led to, and what comes next."""

from __future__ import annotations

from typing import Any

from aotloop.app.failure import Failure, fail_atom, record_probe
from aotloop.app.loops import open_store
from aotloop.app.session.situation import startable
from aotloop.scripts.arguments import Option, Usage, comma_separated, truth
from aotloop.scripts.json_output import Script
from aotloop.statefile.store import Store


def start_now(store: Store) -> dict[str, Any]:
    """What may start, as a part of an answer: a coordinator need not ask for the state after each result."""
    found = startable(store.load())
    return {"start_now": found} if found else {}


def _fail_atom(given: dict[str, Any]) -> dict[str, Any]:
    failure = Failure(
        reason=given["reason"],
        because_of=given["because_of"],
        progress=given["progress"],
        wants_probe=given["wants_probe"],
    )
    store = open_store(given["state_file"])
    came = fail_atom(store, given["atom_id"], failure)
    result = {"success": True, "atom_id": given["atom_id"], "reason": failure.reason, **came.as_data()}
    return {**result, **start_now(store)}


def _record_probe(given: dict[str, Any]) -> dict[str, Any]:
    store = open_store(given["state_file"])
    came = record_probe(
        store,
        given["atom_id"],
        feasible=given["feasible"],
        findings=given["findings"],
        estimate=given["estimate"],
    )
    result = {"success": True, "atom_id": given["atom_id"], "feasible": given["feasible"], **came.as_data()}
    return {**result, **start_now(store)}


FAIL_ATOM = Script(
    Usage(
        "Record a failed attempt, and what comes next. --because-of: atoms whose results are in its way; --progress:"
        " part of the work holds; --wants-probe: a probe is to look before the next attempt.",
        ("atom_id",),
        {
            "--reason": Option(required=True),
            "--because-of": Option(comma_separated, ()),
            "--progress": Option(None),
            "--wants-probe": Option(None),
        },
    ),
    _fail_atom,
)
RECORD_PROBE = Script(
    Usage(
        "Record what a probe found out. A no is evidence: it counts as one turn that led nowhere.",
        ("atom_id",),
        {
            "--feasible": Option(truth, required=True),
            "--findings": Option(required=True),
            "--estimate": Option(float),
        },
    ),
    _record_probe,
)
