"""What every step of shipping in a session needs: the session, the loop, and the answer for the agent."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aotloop.app.session.typed_approvals import require_consent
from aotloop.app.slash_commands import how_to_approve, how_to_file, to_ship
from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.transitions import FINAL
from aotloop.errors import AotError, StateFileBusy, StateFileMissing, Unavailable
from aotloop.git.repository import Repository, find_repository
from aotloop.phases.evidence.acceptance import Permit
from aotloop.phases.guidance import said_after
from aotloop.phases.project import Project
from aotloop.phases.receipts import Filed
from aotloop.scripts.arguments import UsageError, session_told
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import find_phase_file, new_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore

_NAME = "ship.py"
OPTIONS = {
    "skip_brainstorm": "skip-brainstorm",
    "skip_test_review": "skip-test-review",
    "no_graph": "no-graph",
    "enforce_budget": "enforce-budget",
    "budget_limit_usd": "budget-usd",
    "max_iterations": "max-iterations",
    "max_phase_iterations": "max-phase-iterations",
    "max_fix_cycles": "max-fix-cycles",
    "completion_promise": "completion-promise",
}
"""Fields of the loop → the options that a person types."""
LIMITS = ("max_iterations", "max_phase_iterations", "max_fix_cycles", "budget_limit_usd", "enforce_budget")


def wanted_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the loop. A named budget is enforced."""
    wanted = {name: options[option] for name, option in OPTIONS.items() if options.get(option) is not None}
    return {**wanted, "enforce_budget": True} if "budget_limit_usd" in wanted else wanted


def session_of(given: Mapping[str, Any]) -> str:
    """The client's word comes first: an agent cannot use the words of another session."""
    session: str | None = session_told() or given["session"]
    if session is None:
        raise UsageError("which session? The client did not say; name it with --session")
    return session


def place_of(named: str | None) -> str:
    """Where a loop is, or a new one goes."""
    try:
        found = PhaseStore(named or find_phase_file())
    except StateFileMissing:
        return PhaseStore(new_phase_file()).path
    return PhaseStore(new_phase_file()).path if named is None and _is_over_elsewhere(found) else found.path


def _is_over_elsewhere(store: PhaseStore) -> bool:
    """A feature in a folder above, such as a home folder, is not the place for features of another repository."""
    try:
        is_over = store.load().status in FINAL
    except AotError:  # the step that begins a feature reports it
        return False
    here, there = _repositories(store.path)
    return is_over and here is not None and (there is None or here.common_dir != there.common_dir)


def refuse_worktrees(path: str) -> None:
    """Commits of a session in a worktree are not in the checkout of the loop, so none of them counts."""
    here, there = _repositories(path)
    if here is not None and there is not None and here.common_dir == there.common_dir and here.top != there.top:
        raise Unavailable(
            f"this is a worktree, and a feature is shipped in the checkout it belongs to: {there.top}",
            hint="Begin it in a session that is started there; make a branch for it there.",
        )


def _repositories(path: str) -> tuple[Repository | None, Repository | None]:
    """The session's repository, and the loop's."""
    return find_repository(Path.cwd()), find_repository(Path(project_root(path)))


def ground_of(given: Mapping[str, Any], *, is_to_change: bool = True) -> Project:
    store = PhaseStore(given["state_file"] or find_phase_file())
    if is_to_change and holder_of(store.path) is not None:
        raise StateFileBusy("`aot ship` runs this loop; what a session does about it does not count")
    return project_of(store)


def project_of(store: PhaseStore) -> Project:
    """With the settings of the project's configuration."""
    from aotloop.config.sources import load  # noqa: PLC0415 - not every step needs it

    config = load(Path(project_root(store.path)))
    return Project(store, config.ship, config.variables(), config.fence)


def permit_of(ground: Project, session: str) -> Permit:
    path = ground.store.path
    return lambda commands: require_consent(path, ground.store.load(), ground.settings, session, commands)


def answer_to(ground: Project, filed: Filed) -> dict[str, Any]:
    instruction = said_after(filed.effects, filed.loop, ground.settings)
    answer = answer_about(filed.loop, instruction)
    if filed.reasons:
        answer["reasons"] = list(filed.reasons)
    if filed.run is not None:
        run = filed.run
        answer["tests"] = {"passed": run.passed, "command": run.command, "evidence": run.evidence}
    return answer


def answer_about(loop: PhaseLoop, instruction: str) -> dict[str, Any]:
    if loop.status == "running":
        instruction = f"{instruction}\n{how_to_file(loop, _script())}"
    elif loop.status == "waiting":
        instruction = f"Show them, and end your turn. {how_to_approve(loop, to_ship('').strip('` '))}"
    elif loop.status == "stopped":
        instruction = f"It has stopped: {loop.stop_reason}. The person types {to_ship('resume')} if it is to go on."
    return {"phase": loop.phase, "status": loop.status, "session_id": loop.session_id, "next": instruction.strip()}


def _script() -> str:
    """The script as it was called."""
    return f"python3 {sys.argv[0]}" if sys.argv[0].endswith(f"/{_NAME}") else _NAME
