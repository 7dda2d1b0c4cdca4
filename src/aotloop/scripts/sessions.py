"""enter_loop, integrate, take_back, record_judgement: what a session does that `aot run` would do otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from aotloop import app
from aotloop.errors import NotTrusted
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated, truth
from aotloop.scripts.output import Script

if TYPE_CHECKING:
    from aotloop.session.outcomes import Refused
    from aotloop.statefile.store import Store

SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID")
"""Variables in which clients tell commands which session they belong to."""


def session_told() -> str | None:
    """By the client, to commands that it runs."""
    return next((found for name in SESSIONS if (found := os.environ.get(name))), None)


def _enter_loop(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.entering import enter  # noqa: PLC0415 - each script needs its own part

    session = given["session"] or session_told()
    if session is None:
        raise UsageError("which session? The client did not say; name it with --session")
    entered = enter(
        app.open_store(given["state_file"]), session, take_over=given["take_over"], timeout=given["timeout"]
    )
    return {
        "success": True,
        "status": entered.status,
        "session_id": session,
        "run_id": entered.run_id,
        "was_running": entered.was_running,
        "holding": list(entered.holding),
        "failing": entered.failing,
        "waiting": entered.waiting,
        "warnings": list(entered.warnings),
    }


def _integrate(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.consent import only_accepted, require_acceptance_of_checks  # noqa: PLC0415
    from aotloop.session.integrating import integrate  # noqa: PLC0415
    from aotloop.session.outcomes import Refused  # noqa: PLC0415

    if (given["worktree"] is None) != given["in_place"]:
        raise UsageError("where is the work? Name one of --worktree PATH and --in-place")
    store = app.open_store(given["state_file"])
    require_acceptance_of_checks(store, store.load(), given["atom_id"])
    done = integrate(
        store,
        given["atom_id"],
        Path(given["worktree"]) if given["worktree"] is not None else None,
        summary=given["summary"],
        artifacts=given["artifacts"],
        permit=only_accepted(store),
        session=session_told(),
        timeout=given["timeout"],
    )
    if isinstance(done, Refused):
        told = {"success": False, "atom_id": given["atom_id"], **_reasons(done)}
        return {**told, **_failed(given["atom_id"], done, store)} if given["or_fail"] else told
    result: dict[str, Any] = {
        "success": True,
        "atom_id": given["atom_id"],
        "commit": done.commit,
        "was_done_before": done.was_done_before,
        "auto_resolved": list(done.resolution.auto_resolved),
        "worktree_removed": done.worktree_removed,
        "left": list(done.left),
    }
    return {**result, "unverified": done.resolution.unverified} if done.resolution.unverified else result


def _failed(atom: str, refused: Refused, store: Store) -> dict[str, Any]:
    """What is nobody's failure, a conflict or a person's edits in the way, counts nothing."""
    from aotloop.session.failing import Failure, fail  # noqa: PLC0415

    if not refused.is_failure:
        return {}
    return fail(store, atom, Failure(reason=refused.reason, progress=bool(refused.holding))).as_data()


def _reasons(refused: Refused) -> dict[str, Any]:
    told: dict[str, Any] = {"why": refused.why, "error": refused.reason}
    if refused.why == "check":
        told["holding"] = list(refused.holding)
    if refused.paths:
        told[refused.why] = list(refused.paths)
    return {**told, "with": list(refused.atoms)} if refused.atoms else told


def _take_back(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.outcomes import Refused  # noqa: PLC0415
    from aotloop.session.taking_back import take_back  # noqa: PLC0415

    atoms = comma_separated(given["atom_ids"])
    done = take_back(app.open_store(given["state_file"]), atoms, given["reason"])
    told: dict[str, Any] = {"success": not isinstance(done, Refused), "atom_ids": list(atoms)}
    return {**told, **_reasons(done)} if isinstance(done, Refused) else {**told, "commit": done}


def _record_judgement(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.recording import Said, record  # noqa: PLC0415

    if os.environ.get("AOT_RUN_ID"):
        raise NotTrusted("this is an attempt of a loop, and nobody judges the own work")
    if (given["scores"] is None) == (given["passed"] is None):
        raise UsageError("what was found? Give one of --scores JSON and --passed true|false")
    recorded = record(
        app.open_store(given["state_file"]),
        Said(
            item=given["item"],
            evidence=given["evidence"],
            scores=_scores(given["scores"]) if given["scores"] is not None else None,
            passed=given["passed"],
            confirmed=given["confirmed_by_person"],
        ),
    )
    found = recorded.judgement
    told: dict[str, Any] = {"item": recorded.item, "passed": found.passed, "evidence": found.evidence}
    if found.passed is None:
        return {"success": False, **told, "undecided": True, "error": f"nothing is decided by that: {found.evidence}"}
    return {
        "success": True,
        **told,
        "mean": recorded.mean,
        "scores": found.scores,
        "waits_for_person": recorded.waits_for_person,
    }


class _Told(msgspec.Struct, frozen=True):
    score: float
    evidence: str = ""


def _scores(text: str) -> dict[str, Any]:
    from aotloop.agents.results import Score  # noqa: PLC0415

    try:
        told = msgspec.json.decode(text, type=dict[str, float | _Told])
    except msgspec.MsgspecError as error:
        shape = '{"criterion": 4} or {"criterion": {"score": 4, "evidence": "file:line …"}}'
        raise UsageError(f"--scores cannot be read ({error}); it is {shape}") from None
    scores = {name: one if isinstance(one, _Told) else _Told(one) for name, one in told.items()}
    return {name: Score(criterion=name, score=one.score, evidence=one.evidence) for name, one in scores.items()}


_TIMEOUT = Option(float, app.CHECK_TIMEOUT)

ENTER_LOOP = Script(
    Usage(
        "Bind the loop to this session and start it: gate, consent, red first. --take-over only if the person said so.",
        (),
        {"--session": Option(), "--take-over": Option(None), "--timeout": _TIMEOUT},
    ),
    _enter_loop,
)
INTEGRATE = Script(
    Usage(
        "Check an atom's work, commit it, merge it into the branch and resolve the atom; or say why not. --or-fail:"
        " what its check finds, or a protected path, is recorded as a failure, as fail_atom does.",
        ("atom_id",),
        {
            "--worktree": Option(),
            "--in-place": Option(None),
            "--summary": Option(required=True),
            "--artifacts": Option(comma_separated, ()),
            "--or-fail": Option(None),
            "--timeout": _TIMEOUT,
        },
    ),
    _integrate,
)
TAKE_BACK = Script(
    Usage(
        "Undo on the branch what atoms contributed that are pending again, or gone (comma-separated): all, or nothing.",
        ("atom_ids",),
        {"--reason": Option(required=True)},
    ),
    _take_back,
)
RECORD_JUDGEMENT = Script(
    Usage(
        "Record what a judge found about a quality item (scores) or an assertion (passed); the grade is computed here.",
        (),
        {
            "--item": Option(required=True),
            "--scores": Option(),
            "--passed": Option(truth),
            "--evidence": Option(required=True),
            "--confirmed-by-person": Option(None),
        },
    ),
    _record_judgement,
)
