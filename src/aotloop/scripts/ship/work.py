"""work: the work of a phase becomes a separate loop, which the session enters and coordinates like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop.app.slash_commands import AS_GRAPHS
from aotloop.core.commands import commands_of
from aotloop.errors import AotError
from aotloop.phases.evidence.test_command import command_for
from aotloop.phases.project import agreed_tests
from aotloop.phases.receipts import refuse_others as refuse_other_sessions
from aotloop.scripts.ship.ship_session import ground_of, permit_of, session_of
from aotloop.statefile.locate import STATE_FILE, project_root
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import trust

ENTER = (
    "Run enter_loop.py, then do what section 2 of the command enter-recursion says: start a coordinator, or coordinate"
    " yourself. When that loop is over, file the receipt."
)
YOURSELF = "Do it yourself, step by step, and file the receipt."


def work(given: dict[str, Any]) -> dict[str, Any]:
    """The loop is made once for each stay in the phase; later calls say how far it is."""
    from aotloop.app.align.agreed_file import loop_in, write  # noqa: PLC0415 - much is needed for this step alone
    from aotloop.app.ship.phase_graph import refuse_others  # noqa: PLC0415
    from aotloop.app.ship.plan_graph import draft_of, is_of  # noqa: PLC0415

    session, ground = session_of(given), ground_of(given)
    loop = ground.store.load()
    refuse_other_sessions(loop, session)
    if loop.phase not in AS_GRAPHS or loop.status != "running":
        raise AotError(f"there is no such work in {loop.phase} ({loop.status}); ship.py status says what is next")
    store = Store(str(Path(project_root(ground.store.path), STATE_FILE)))
    before = loop_in(store)
    result: dict[str, Any] = {"success": True, "phase": loop.phase, "status": loop.status, "state_file": store.path}
    if before is not None and is_of(before, loop):
        return {**result, "made": False, "loop_status": before.control.status, "next": _next(before.control.status)}
    tests = agreed_tests(loop)
    draft = None if loop.no_graph or tests is None else draft_of(ground, loop, before)
    if draft is None or tests is None:
        return {**result, "made": False, "state_file": None, "next": YOURSELF}
    refuse_others(store)
    permit_of(ground, session)([command_for(ground.root, tests, ground.settings)])
    write(store, draft, before=before, request=loop.feature, accept=lambda commands: trust(store.path, commands))
    made = store.load()
    atoms = [atom.id for atom in made.atoms]
    return {**result, "made": True, "atoms": atoms, "commands": commands_of(made), "next": ENTER}


def _next(status: str) -> str:
    match status:
        case "completed":
            return "Its loop is completed: file the receipt."
        case "stopped":
            return f"Its loop has stopped. What is left of it: {YOURSELF[0].lower()}{YOURSELF[1:]}"
        case _:
            return ENTER
