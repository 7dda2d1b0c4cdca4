"""Where a feature stands: its phases, the findings of its review, and the commands that come next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.core.phases.phase_progress import is_spent, state_of
from aotloop.core.phases.receipts import receipt_of
from aotloop.foreign_tree import begin_beneath
from aotloop.phases.project import Project, project_at
from aotloop.statefile.lease import holder_of

if TYPE_CHECKING:
    from aotloop.phases.evidence.documents import Findings

_LARGEST = 1_000_000
"""Bytes of a review that are read."""


class FeatureStatus(msgspec.Struct, frozen=True, kw_only=True):
    loop: PhaseLoop
    findings: Findings | None
    """None: there is no review, or it does not say what was found."""
    next_steps: list[str]

    def as_data(self) -> dict[str, Any]:
        return {
            **msgspec.to_builtins(self.loop),
            "phases": [_row(self.loop, phase) for phase in PHASES],
            "findings": msgspec.to_builtins(self.findings) if self.findings is not None else None,
            "next": self.next_steps,
        }


def feature_status(project: Project | None = None) -> FeatureStatus:
    """`project` None: the one here."""
    project = project if project is not None else project_at()
    loop = project.store.load()
    steps = next_steps(loop, is_run=holder_of(project.store.path) is not None)
    return FeatureStatus(loop=loop, findings=_findings(project, loop), next_steps=steps)


def next_steps(loop: PhaseLoop, *, is_run: bool = False) -> list[str]:
    if loop.status in ("completed", "cancelled"):
        return ["aot report --feature", 'aot ship "the next feature"', "git log"]
    if is_run:
        return ["aot ship stop", "aot log -f"]
    if loop.status == "waiting":
        return ["aot ship approve", 'aot ship approve --refuse "why"']
    if loop.status == "stopped" and (is_spent(loop) or loop.global_iteration >= loop.max_iterations):
        limit = "--budget-usd" if is_spent(loop) else "--max-iterations"
        return [f"aot ship {limit} MORE", "aot ship status"]
    return ["aot ship", "aot ship cancel"]


def _row(loop: PhaseLoop, phase: Phase) -> dict[str, Any]:
    receipt = receipt_of(loop, phase)
    return {
        "phase": phase,
        "state": state_of(loop, phase),
        "artifact": receipt.artifact if receipt is not None else None,
        "git_sha": receipt.git_sha if receipt is not None else None,
    }


def _findings(project: Project, loop: PhaseLoop) -> Findings | None:
    from aotloop.phases.evidence.documents import findings_in  # noqa: PLC0415 - help needs no Markdown

    receipt = receipt_of(loop, "re_review") or receipt_of(loop, "review")
    if receipt is None:
        return None
    content = begin_beneath(project.root, receipt.artifact, _LARGEST)
    return findings_in(content.decode("utf-8", "replace")) if content is not None else None
