"""ship: the steps of `aot ship`, for a session. A step that needs a person looks up what that person typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import to_builtins

from aotloop.app.session.typed_approvals import began_in_a_prompt, word_for
from aotloop.app.slash_commands import to_ship
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.errors import NotTrusted, StateFileMissing
from aotloop.phases import receipts
from aotloop.phases.failure_log import USUAL, note_failed
from aotloop.phases.guidance import anchor, now_to_do
from aotloop.phases.project import Project, protected
from aotloop.scripts.arguments import Option, Usage, UsageError
from aotloop.scripts.json_output import Script
from aotloop.scripts.ship import person_steps
from aotloop.scripts.ship.ship_session import (
    OPTIONS,
    answer_about,
    answer_to,
    ground_of,
    permit_of,
    place_of,
    project_of,
    refuse_worktrees,
    session_of,
    wanted_in,
)
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.trust import human_approvals

SEPARATOR = "|||"


def _begin(given: dict[str, Any]) -> dict[str, Any]:
    """With the person's own words, if a hook saw them typed; else with those of the agent."""
    from aotloop.app.ship.feature_start import FeatureOptions, begin_feature  # noqa: PLC0415

    session, path = session_of(given), place_of(given["state_file"])
    refuse_worktrees(path)
    word = word_for("begin", session, path)
    feature = word.text if word is not None else given["feature"]
    if word is None and (elsewhere := human_approvals.approval_of("begin", session)) is not None:
        raise UsageError(f"the person named a feature in {elsewhere.folder}; run this there")
    if not feature or not feature.strip():
        raise UsageError("which feature? The person says it with the command, or you with --feature")
    options = word.options if word is not None else _options(given)
    if given["skip_test_review"] and (word is None or not word.options.get("skip-test-review")):
        raise NotTrusted(
            "only the person can skip the review of the acceptance tests, and has not done so",
            hint=f"The person types {to_ship('FEATURE --skip-test-review')}; else leave it out.",
        )
    loop = begin_feature(PhaseStore(path), FeatureOptions(feature=feature, session_id=session, **wanted_in(options)))
    if word is not None:
        began_in_a_prompt(path, loop)
        human_approvals.take(word)
    ground = project_of(PhaseStore(path))
    return {"success": True, "file": path, **answer_about(loop, now_to_do(loop, ground.settings))}


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {option: given[option.replace("-", "_")] for option in OPTIONS.values()}


def _status(given: dict[str, Any]) -> dict[str, Any]:
    try:
        ground = ground_of(given, is_to_change=False)
    except StateFileMissing:
        return {"success": True, "exists": False, "next": f"No feature is shipped here: {to_ship('FEATURE')} begins."}
    loop = ground.store.load()
    instruction = now_to_do(loop, ground.settings) if loop.status == "running" else ""
    return {
        "success": True,
        "exists": True,
        **answer_about(loop, instruction),
        "where": anchor(loop),
        "protected": list(protected(loop)),
        "loop": to_builtins(loop),
    }


def _receipt(given: dict[str, Any]) -> dict[str, Any]:
    if given["artifact"] is None:
        raise UsageError("what was produced? Name its path with --artifact")
    session, ground = session_of(given), ground_of(given)
    phase = ground.store.load().phase
    filed = receipts.file_receipt(
        ground,
        artifact=given["artifact"],
        sha=given["sha"],
        session=session,
        summary=given["summary"] or "",
        failed=given["failed"],
        branch=given["branch"],
        pr_url=given["pr_url"],
        permit=permit_of(ground, session),
    )
    result = {"success": filed.is_accepted, **answer_to(ground, filed)}
    if not filed.is_accepted or phase == "ship":  # what is shipped is committed, and nothing comes after it
        return result
    return result | _noted(ground, filed.loop, phase, given["failed"])


def _checkpoint(given: dict[str, Any]) -> dict[str, Any]:
    if not (given["summary"] or "").strip():
        raise UsageError("what is the state of things? Say it with --summary")
    ground = ground_of(given)
    filed = receipts.write_checkpoint(ground, given["summary"], given["failed"], session_of(given))
    result = {"success": True, **answer_to(ground, filed)}
    return result | _noted(ground, filed.loop, filed.loop.phase, given["failed"])


def _noted(ground: Project, loop: PhaseLoop, phase: Phase, failed: tuple[str, ...]) -> dict[str, str]:
    """The file of the project that has it now; the agent commits it."""
    file = loop.artifacts.progress_file or USUAL
    return {"noted_in": file} if note_failed(ground.root, file, [(phase, approach) for approach in failed]) else {}


def _work(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.scripts.ship.work import work  # noqa: PLC0415

    return work(given)


STEPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "begin": _begin,
    "status": _status,
    "receipt": _receipt,
    "checkpoint": _checkpoint,
    "approve": person_steps.approve,
    "refuse": person_steps.refuse,
    "advance": person_steps.advance,
    "resume": person_steps.resume,
    "cancel": person_steps.cancel,
    "work": _work,
}


def _ship(given: dict[str, Any]) -> dict[str, Any]:
    step = STEPS.get(given["step"])
    if step is None:
        raise UsageError(f"there is no step {given['step']!r}; it is one of {', '.join(STEPS)}")
    return step(given)


def _several(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(SEPARATOR) if part.strip())


SHIP = Script(
    Usage(
        f"One step of shipping a feature in this session: {', '.join(STEPS)}.",
        ("step",),
        {
            "--session": Option(),
            "--feature": Option(),
            "--skip-brainstorm": Option(None),
            "--skip-test-review": Option(None),
            "--no-graph": Option(None),
            "--enforce-budget": Option(None),
            "--budget-usd": Option(float),
            "--max-iterations": Option(int),
            "--max-phase-iterations": Option(int),
            "--max-fix-cycles": Option(int),
            "--completion-promise": Option(),
            "--artifact": Option(),
            "--sha": Option(),
            "--summary": Option(),
            "--failed": Option(_several, ()),
            "--branch": Option(),
            "--pr-url": Option(),
            "--reason": Option(),
        },
    ),
    _ship,
)
