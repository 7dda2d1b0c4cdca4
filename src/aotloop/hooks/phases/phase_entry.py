"""The entry of hooks for a session that ships a feature: each reads the phase loop's file and calls `decide`.

While `aot ship` holds the loop, no session may drive it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aotloop.clock import now, text_of
from aotloop.errors import AotError
from aotloop.hooks.answers import Answer, Context
from aotloop.hooks.payload import Payload, most_in_vain
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.phases.phase_store import PhaseStore

if TYPE_CHECKING:
    from aotloop.core.phases.model import PhaseLoop
    from aotloop.hooks.phases.phase_prompt import Circumstances as PromptCircumstances
    from aotloop.hooks.phases.phase_prompt import Decision
    from aotloop.hooks.phases.phase_stop import Circumstances, Evidence
    from aotloop.trust.human_approvals import Word


def stop(payload: Payload, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.phases.phase_stop import Circumstances  # noqa: PLC0415 - each hook loads what it needs

    if store is None or _is_run_elsewhere(store):
        return Answer()
    circumstances = Circumstances(
        at=now(),
        most_in_vain=most_in_vain(),
        last_commit_at=_last_commit_at(project_root(store.path)),
        script=_script(),
    )
    return end_turn(payload, store, circumstances)


def end_turn(payload: Payload, store: PhaseStore, circumstances: Circumstances) -> Answer:
    """Looking needs no lock. The decision is made under the lock, and only if the loop has not changed since."""
    from aotloop.hooks.phases.phase_stop import decide  # noqa: PLC0415

    before = store.load()
    evidence = _evidence(payload, store, before)
    if evidence is None:
        return store.update(lambda loop: decide(payload, loop, circumstances))
    from aotloop.phases.receipts import refuse_if_moved  # noqa: PLC0415

    def change(loop: PhaseLoop) -> tuple[PhaseLoop, Answer]:
        refuse_if_moved(before, loop)
        return decide(payload, loop, circumstances, evidence)

    return store.update(change)


def _evidence(payload: Payload, store: PhaseStore, loop: PhaseLoop) -> Evidence | None:
    """None: no evidence is needed. The code that examines receipts loads slowly, so it is loaded only here."""
    from aotloop.core.phases.promise import promise_in  # noqa: PLC0415
    from aotloop.hooks.phases.phase_stop import Evidence, is_end_of_turn  # noqa: PLC0415

    is_promised = loop.phase == "ship" and promise_in(payload.last_assistant_message or "") is not None
    if not is_end_of_turn(payload, loop) or not (is_promised or loop.phase == "test"):
        return None
    from aotloop.phases.project import Project  # noqa: PLC0415
    from aotloop.phases.receipts import facts_as_tested_before, verdict_as_tested_before  # noqa: PLC0415

    if is_promised:
        return Evidence(facts=facts_as_tested_before(Project(store), loop))
    return Evidence(tests_pass=verdict_as_tested_before(Project(store), loop))


def _script() -> str:
    """With its path, if the client gives it, because a session that lost its context does not know it."""
    plugin = os.environ.get("CLAUDE_PLUGIN_ROOT", "")
    return f"python3 {plugin}/skills/phase-loop/scripts/ship.py" if os.path.isabs(plugin) else "ship.py"


def _last_commit_at(root: str) -> str | None:
    """From git's own log of checkouts, in which every commit leaves a line. Calling git takes longer."""
    from aotloop.git.head import git_dir_of  # noqa: PLC0415

    try:
        with open(os.path.join(git_dir_of(root) or "", "logs", "HEAD"), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - 4096, 0))
            last = file.read().splitlines()[-1].partition(b"\t")[0].split()
        return text_of(int(last[-2]))
    except (OSError, ValueError, IndexError, OverflowError):
        return None


def prompt(payload: Payload, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.phases.phase_prompt import Circumstances  # noqa: PLC0415

    elsewhere = store is not None and _is_run_elsewhere(store)
    return follow_prompt(payload, store, Circumstances(at=now(), is_run_elsewhere=elsewhere))


def follow_prompt(payload: Payload, store: PhaseStore | None, circumstances: PromptCircumstances) -> Answer:
    """What changes the loop is decided once more under the lock; the rest is done afterwards."""
    from aotloop.hooks.phases.phase_prompt import decide, moved  # noqa: PLC0415

    loop = store.load() if store is not None else None
    decision = decide(payload, loop, circumstances)

    def change(loop: PhaseLoop) -> tuple[PhaseLoop, tuple[PhaseLoop, Decision]]:
        decision = decide(payload, loop, circumstances)
        return moved(loop, decision), (loop, decision)

    if store is not None and decision.event is not None:
        loop, decision = store.update(change)
    if store is not None and loop is not None and decision.ends_work:
        from aotloop.app.run.stop import stop_work_of  # noqa: PLC0415 - for this alone the other loop's file is read

        stop_work_of(store.path, loop)
    return _noted(decision.word, store, loop) or decision.answer


def _noted(word: Word | None, store: PhaseStore | None, loop: PhaseLoop | None) -> Answer | None:
    """Records the person's word before the session is told so. None: it is recorded, or there is none."""
    if word is None:
        return None
    from aotloop.app.session.typed_approvals import subject_of  # noqa: PLC0415 - most prompts are no decision
    from aotloop.trust.human_approvals import note  # noqa: PLC0415

    subject = subject_of(word.kind, store.path, loop) if store is not None and loop is not None else ""
    try:
        note(replace(word, about=word.about or subject))
    except AotError as error:
        return Context(text=str(error))
    return None


def start(payload: Payload, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.phases.phase_stop import at_start  # noqa: PLC0415

    return at_start(payload, store.load(), _script()) if store is not None else Answer()


def compaction(payload: Payload, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.phases.phase_stop import before_compaction  # noqa: PLC0415

    return before_compaction(payload, store.load(), _script()) if store is not None else Answer()


def tool(payload: Payload, store: PhaseStore | None) -> Answer:
    from aotloop.hooks.phases.phase_tool_use import decide  # noqa: PLC0415
    from aotloop.hooks.pre_tool_use import paths_written  # noqa: PLC0415
    from aotloop.hooks.write_targets import target  # noqa: PLC0415

    if store is None:
        return Answer()
    targets = [target(path, payload.cwd, store.path) for path in paths_written(payload)]
    return decide(payload, store.load(), targets, os.path.basename(store.path))


def _is_run_elsewhere(store: PhaseStore) -> bool:
    return holder_of(store.path) is not None


HOOKS: dict[str, Callable[[Payload, PhaseStore | None], Answer]] = {
    "Stop": stop,
    "UserPromptSubmit": prompt,
    "SessionStart": start,
    "PreCompact": compaction,
    "PreToolUse": tool,
}
