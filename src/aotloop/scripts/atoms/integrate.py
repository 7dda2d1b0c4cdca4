"""integrate, take_back: the work of atoms reaches the branch, or is undone there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from aotloop.app.atoms import start_atom
from aotloop.app.failure import Failure, fail_atom
from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.preflight.consent import only_accepted, require_acceptance_of_checks
from aotloop.app.session.attempt_token import token_now
from aotloop.app.session.integration.integrate import integrate, take_back
from aotloop.app.session.integration.integration_result import Refused
from aotloop.app.session.situation import startable
from aotloop.errors import AotError
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated, session_told
from aotloop.scripts.atoms.attempt_results import start_now
from aotloop.scripts.json_output import Script
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

_WORKTREES = (".claude", "worktrees")
_USUAL: dict[str, Any] = {
    "atom_id": None,
    "commit": None,
    "was_done_before": False,
    "auto_resolved": [],
    "worktree_removed": True,
    "left": [],
}
"""Left out of the answer with --next if they have this value; None: any value."""


def _integrate(given: dict[str, Any]) -> dict[str, Any]:
    if (given["worktree"] is None) != given["in_place"]:
        raise UsageError("where is the work? Name one of --worktree PATH and --in-place")
    store = open_store(given["state_file"])
    require_acceptance_of_checks(store, store.load(), given["atom_id"])
    done = integrate(
        store,
        given["atom_id"],
        _place(store, given["worktree"]),
        summary=given["summary"],
        artifacts=given["artifacts"],
        permit=only_accepted(store),
        session=session_told(),
        token=given["token"],
        timeout=given["timeout"],
    )
    if isinstance(done, Refused):
        refusal = {"success": False, "atom_id": given["atom_id"], **_reasons(done)}
        refusal |= _failed(given["atom_id"], done, store) if given["or_fail"] or given["next"] else {}
        return {**refusal, **_following(store, given)}
    result: dict[str, Any] = {
        "success": True,
        "atom_id": given["atom_id"],
        "commit": done.commit,
        "was_done_before": done.was_done_before,
        "auto_resolved": list(done.resolution.auto_resolved),
        "worktree_removed": done.worktree_removed,
        "left": list(done.left),
    }
    result |= {"unverified": done.resolution.unverified} if done.resolution.unverified else {}
    shown = unusual(result, _USUAL) if given["next"] else result
    return {**shown, **_following(store, given)}


def _following(store: Store, given: dict[str, Any]) -> dict[str, Any]:
    """Where workers share a tree, the coordinator chooses among the atoms that may start."""
    return begin_now(store) if given["next"] and not given["in_place"] else start_now(store)


def _place(store: Store, name: str | None) -> Path | None:
    """A worktree of the client may be given by the last part of its path, which is short."""
    if name is None:
        return None
    own = Path(project_root(store.path), *_WORKTREES, name)
    return own if os.sep not in name and name not in (".", "..") and own.is_dir() else Path(name)


def _failed(atom: str, refused: Refused, store: Store) -> dict[str, Any]:
    """A conflict, or a person's edits in the way, is no failure and counts nothing."""
    if not refused.is_failure:
        return {}
    return fail_atom(store, atom, Failure(reason=refused.reason, progress=bool(refused.holding))).as_data()


def _reasons(refused: Refused) -> dict[str, Any]:
    reasons: dict[str, Any] = {"why": refused.why, "error": refused.reason}
    if refused.why == "check":
        reasons["holding"] = list(refused.holding)
    if refused.paths:
        reasons[refused.why] = list(refused.paths)
    return {**reasons, "with": list(refused.atoms)} if refused.atoms else reasons


def _take_back(given: dict[str, Any]) -> dict[str, Any]:
    atoms = comma_separated(given["atom_ids"])
    done = take_back(open_store(given["state_file"]), atoms, given["reason"])
    result: dict[str, Any] = {"success": not isinstance(done, Refused), "atom_ids": list(atoms)}
    return {**result, **_reasons(done)} if isinstance(done, Refused) else {**result, "commit": done}


def begin_now(store: Store) -> dict[str, Any]:
    """Starts these atoms, as `update_atom … in_progress` does: agent → atom → token. The agents are still missing."""
    begun: dict[str, dict[str, str]] = {}
    for atom, agent in startable(store.load()).items():
        with suppress(AotError):  # another process has started it, or a person wants to stop
            start_atom(store, atom)
            begun.setdefault(agent, {})[atom] = token_now(store, atom)
    return {"begun": begun} if begun else {}


def unusual(result: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Without the entries that are as usual. The usual value None: any value is usual."""
    return {key: value for key, value in result.items() if key not in usual or usual[key] not in (value, None)}


INTEGRATE = Script(
    Usage(
        "Check an atom's work, commit it, merge it into the branch and resolve the atom; or say why not. --token: what"
        " update_atom in_progress returned. --or-fail:"
        " what its check finds, or a protected path, is recorded as a failure, as fail_atom does. --next: what may"
        " start now is started, as update_atom in_progress does, and the answer is short; it includes --or-fail."
        " --worktree: a path, or the name of a folder in .claude/worktrees. --artifacts: else the paths that changed.",
        ("atom_id",),
        {
            "--worktree": Option(),
            "--in-place": Option(None),
            "--token": Option(),
            "--summary": Option(required=True),
            "--artifacts": Option(comma_separated, ()),
            "--or-fail": Option(None),
            "--next": Option(None),
            "--timeout": Option(float, CHECK_TIMEOUT),
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
