"""update_atom, add_binding: what became of an atom."""

from __future__ import annotations

from typing import Any

from aotloop.app.atoms import abandon_atom, start_atom, write_binding
from aotloop.app.loops import open_store
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated
from aotloop.scripts.json_output import Script
from aotloop.statefile.store import Store

ATOM_STATUSES = ("pending", "in_progress", "resolved")


def _update_atom(given: dict[str, Any]) -> dict[str, Any]:
    atom, status = given["atom_id"], given["status"]
    if status not in ATOM_STATUSES:
        raise UsageError(f"status cannot be {status!r}; it is one of {', '.join(ATOM_STATUSES)}")
    store = open_store(given["state_file"])
    result = {"success": True, "atom_id": atom, "status": status}
    if status == "resolved":
        return {**result, **_resolved(store, atom)}
    (start_atom if status == "in_progress" else abandon_atom)(store, atom)
    token = {"token": _token(store, atom)} if status == "in_progress" else {}
    return {**result, "auto_resolved": [], **token}


def _token(store: Store, atom: str) -> str:
    from aotloop.app.session.attempt_token import token_now  # noqa: PLC0415 - the other steps do not need it

    return token_now(store, atom)


def _resolved(store: Store, atom: str) -> dict[str, Any]:
    from aotloop.app.session.session_verification import resolve_in_session  # noqa: PLC0415 - it loads checks and consent

    resolution = resolve_in_session(store, atom)
    result: dict[str, Any] = {"auto_resolved": list(resolution.auto_resolved)}
    return {**result, "unverified": resolution.unverified} if resolution.unverified else result


def _add_binding(given: dict[str, Any]) -> dict[str, Any]:
    atom, artifacts = given["atom_id"], given["artifacts"]
    write_binding(open_store(given["state_file"]), atom, given["summary"], artifacts)
    return {"success": True, "atom_id": atom, "artifacts_count": len(artifacts)}


UPDATE_ATOM = Script(Usage("Start, resolve or abandon an atom.", ("atom_id", "status")), _update_atom)
ADD_BINDING = Script(
    Usage(
        "Record what an atom's work led to.",
        ("atom_id",),
        {"--summary": Option(required=True), "--artifacts": Option(comma_separated, ())},
    ),
    _add_binding,
)
