"""Everything that the report of a feature tells: its phases, receipts, tests, findings, refusals, cost and events."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec

from aotloop.app.overview.attention import need_of_feature
from aotloop.app.overview.event_feed import read_events
from aotloop.app.ship.status import feature_status
from aotloop.app.ship.test_consent import shown_tests
from aotloop.core.phases.model import Checkpoint, ErrorRecord, Phase, PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.project import Project
from aotloop.statefile.lease import holder_of

STATES = {"done": "done", "forced": "left by force", "now": "now", "skipped": "skipped", "": "to come"}
SYMBOLS = {"done": "✔", "forced": "!", "now": "▶", "skipped": "·", "": "○"}
_MOST_EVENTS = 5000


class PhaseReport(msgspec.Struct, frozen=True, kw_only=True):
    phase: Phase
    state: str
    artifact: str
    """Empty: no receipt counts."""
    commit: str
    judged: tuple[dict[str, Any], ...]
    """Events about claims that were checked, refused ones too."""
    checkpoints: tuple[Checkpoint, ...]
    errors: tuple[ErrorRecord, ...]

    @property
    def name(self) -> str:
        return self.phase.replace("_", " ")


class FeatureFacts(msgspec.Struct, frozen=True, kw_only=True):
    folder: str
    loop: PhaseLoop
    need: str | None
    phases: tuple[PhaseReport, ...]
    tests: str
    test_command: str
    open_findings: tuple[str, ...]
    resolved_findings: tuple[str, ...]
    events: tuple[dict[str, Any], ...]

    @property
    def numbers(self) -> list[tuple[str, str]]:
        loop, verdict = self.loop, self.loop.tests_verdict
        result = "not run" if verdict is None else f"{'pass' if verdict.passed else 'fail'} at {verdict.commit[:10]}"
        return [
            ("status", loop.status),
            ("phases done", f"{len(loop.phases_completed)} of {len(self.phases)}"),
            ("acceptance tests", result),
            ("turns", f"{loop.global_iteration} of {loop.max_iterations}"),
            ("rounds of fixing", f"{loop.fix_review_cycles} of {loop.max_fix_cycles}"),
            ("cost", f"${loop.spent_usd:.2f} of ${loop.budget_limit_usd:.2f}"),
        ]


def feature_facts(project: Project) -> FeatureFacts:
    """Of the feature as it is now. Nothing is changed, and a run may go on meanwhile."""
    status = feature_status(project)
    loop, path = status.loop, project.store.path
    events = _events(path)
    judged: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if event["kind"] == "receipt":
            judged[event["phase"]].append(event)
    tests, command = _tests(project, loop)
    findings = status.findings
    return FeatureFacts(
        folder=str(project.root),
        loop=loop,
        need=need_of_feature(loop, is_run=holder_of(path) is not None),
        phases=tuple(_phase(loop, row, judged[row["phase"]]) for row in status.as_data()["phases"]),
        tests=tests,
        test_command=command,
        open_findings=findings.open if findings is not None else (),
        resolved_findings=(*findings.resolved, *findings.accepted) if findings is not None else (),
        events=tuple(events[-_MOST_EVENTS:]),
    )


def _phase(loop: PhaseLoop, row: dict[str, Any], judged: list[dict[str, Any]]) -> PhaseReport:
    phase: Phase = row["phase"]
    return PhaseReport(
        phase=phase,
        state=row["state"],
        artifact=row["artifact"] or "",
        commit=row["git_sha"] or "",
        judged=tuple(judged),
        checkpoints=tuple(checkpoint for checkpoint in loop.checkpoints if checkpoint.phase == phase),
        errors=tuple(error for error in loop.errors if error.phase == phase),
    )


def _tests(project: Project, loop: PhaseLoop) -> tuple[str, str]:
    try:
        return shown_tests(project, loop)
    except AotError:  # an agent named what cannot be a file of tests
        return "", ""


def _events(path: str) -> list[dict[str, Any]]:
    found, mark = list[dict[str, Any]](), None
    while True:
        batch = read_events(path, mark)
        found += batch.events
        mark = batch.mark
        if not batch.is_more:
            return found
