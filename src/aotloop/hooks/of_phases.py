"""The hooks of a session that ships a feature: each reads the phase loop's file and has it decided.

Before anything else, the loop is none of a session's while `aot ship` holds it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from aotloop.hooks.answers import Answer
from aotloop.hooks.told import Told
from aotloop.statefile.phase_store import PhaseStore


def stop(told: Told, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.run import CAP, most_in_vain  # noqa: PLC0415
    from aotloop.hooks.shipping import Circumstances, decide  # noqa: PLC0415 - each hook loads what it needs
    from aotloop.statefile.locate import project_root  # noqa: PLC0415

    if store is None or _is_run_elsewhere(store):
        return Answer()
    now = Circumstances(
        at=_now(),
        most_in_vain=most_in_vain(os.environ.get(CAP, "")),
        last_commit_at=_last_commit_at(project_root(store.path)),
        script=_script(),
    )
    return decide(told, store, now)


def _script() -> str:
    """With its path where the client tells it: a session that has lost its memory does not know it any more."""
    plugin = os.environ.get("CLAUDE_PLUGIN_ROOT", "")
    return f"python3 {plugin}/skills/phase-loop/scripts/ship.py" if os.path.isabs(plugin) else "ship.py"


def _last_commit_at(root: str) -> str | None:
    """From git's own log of what was checked out, in which every commit leaves a line; git itself takes longer."""
    from aotloop.workspace.head import git_dir_of  # noqa: PLC0415

    try:
        with open(os.path.join(git_dir_of(root) or "", "logs", "HEAD"), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - 4096, 0))
            last = file.read().splitlines()[-1].partition(b"\t")[0].split()
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(last[-2])))
    except (OSError, ValueError, IndexError, OverflowError):
        return None


def prompt(told: Told, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.asking import Circumstances, decide  # noqa: PLC0415

    elsewhere = store is not None and _is_run_elsewhere(store)
    return decide(told, store, Circumstances(at=_now(), is_run_elsewhere=elsewhere))


def start(told: Told, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.shipping import at_start  # noqa: PLC0415

    return at_start(told, store.load(), _script()) if store is not None else Answer()


def compaction(told: Told, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.shipping import before_compaction  # noqa: PLC0415

    return before_compaction(told, store.load(), _script()) if store is not None else Answer()


def tool(told: Told, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.guarding import paths_written  # noqa: PLC0415
    from aotloop.hooks.keeping import decide  # noqa: PLC0415
    from aotloop.hooks.targets import target  # noqa: PLC0415

    if store is None:
        return Answer()
    targets = [target(path, told.cwd, store.path) for path in paths_written(told)]
    return decide(told, store.load(), targets, os.path.basename(store.path))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _is_run_elsewhere(store: PhaseStore) -> bool:
    from aotloop.statefile.lease import holder_of  # noqa: PLC0415

    return holder_of(store.path) is not None


HOOKS: dict[str, Callable[[Told, PhaseStore | None], Answer]] = {
    "Stop": stop,
    "UserPromptSubmit": prompt,
    "SessionStart": start,
    "PreCompact": compaction,
    "PreToolUse": tool,
}
