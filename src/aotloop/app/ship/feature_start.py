"""Begins a feature, one at a time: in a new phase file, or in place of a loop that is over."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from aotloop.app.overview.loop_registry import register
from aotloop.clock import now
from aotloop.core.phases.model import Artifacts, PhaseLoop
from aotloop.core.phases.status_changes import begin
from aotloop.core.phases.transitions import FINAL
from aotloop.errors import AotError, StateFileMissing, Unavailable
from aotloop.exit_codes import NOT_READY
from aotloop.phases.failure_log import USUAL
from aotloop.statefile.durable import JOURNALS
from aotloop.statefile.locate import project_root
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.text.sanitize import plain
from aotloop.text.shorten import PHRASE, short_line

OVER = "shipped"
"""The folder, among the journals, in which loops that are over are kept."""

LONGEST_PROMISE = 200


class FeatureOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The person's options; None: the loop keeps its own value."""

    feature: str
    skip_brainstorm: bool = False
    skip_test_review: bool = False
    budget_limit_usd: float | None = None
    enforce_budget: bool = False
    max_iterations: int | None = None
    max_phase_iterations: int | None = None
    max_fix_cycles: int | None = None
    completion_promise: str | None = None
    no_graph: bool = False
    session_id: str | None = None
    branch: str | None = None


def begin_feature(store: PhaseStore, wanted: FeatureOptions) -> PhaseLoop:
    before = _before(store)
    if before is not None and before.status not in FINAL:
        feature = short_line(before.feature, PHRASE)
        raise AotError(
            f"another feature is in progress here: {feature} (in {before.phase}, {before.status})",
            hint="`aot ship` continues it, `aot ship cancel` gives it up.",
            exit_code=NOT_READY,
        )
    options = msgspec.structs.asdict(wanted)
    branch = options.pop("branch")
    given = {name: value for name, value in options.items() if value is not None}
    given["feature"] = plain(wanted.feature)
    if wanted.completion_promise is not None:
        given["completion_promise"] = _promise(wanted.completion_promise)
    at = now()
    artifacts = Artifacts(progress_file=USUAL, branch=branch)
    loop, _ = begin(PhaseLoop(**given, phase="brainstorm", artifacts=artifacts, started_at=at, last_updated=at))
    if before is not None:
        _keep(store, before)
    store.create(loop, instead_of=before)
    register(store.path, "feature")
    return loop


def _promise(text: str) -> str:
    """Refuses a promise that an agent cannot make between its marks: else the feature would fail only at its end."""
    text = text.strip()
    if len(text) > LONGEST_PROMISE or "<" in text or not text.isprintable():
        raise AotError(
            f"no agent could make the promise {short_line(text, PHRASE)!r}",
            hint=f"A word or a sentence, of {LONGEST_PROMISE} characters at most, without `<`.",
        )
    return text


def _before(store: PhaseStore) -> PhaseLoop | None:
    """A file that cannot be read is not overwritten: the error says what is wrong with it."""
    try:
        return store.load()
    except StateFileMissing:
        return None


def _keep(store: PhaseStore, loop: PhaseLoop) -> None:
    folder = Path(project_root(store.path), JOURNALS, OVER)
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{loop.started_at}-{short_line(loop.feature, 40)}").strip("-")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        (folder / f"{name}.json").write_bytes(Path(store.path).read_bytes())
    except OSError as error:
        raise Unavailable(f"the loop that is over cannot be kept: {folder}: {error.strerror}") from error
