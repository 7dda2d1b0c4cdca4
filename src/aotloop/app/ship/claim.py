"""What a person who works by hand, or a session, claims about a phase: its receipt, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from aotloop.app.ship.approve import Consent
from aotloop.app.ship.feature_access import project_here, refuse_while_run
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.errors import NotTrusted, NotVerified
from aotloop.phases.evidence.facts import needs_tests
from aotloop.phases.guidance import said_after
from aotloop.phases.project import Project
from aotloop.phases.receipts import file_receipt, write_checkpoint
from aotloop.trust.person import is_attempt


def claim_receipt(
    artifact: str,
    consent: Consent,
    *,
    sha: str | None,
    summary: str,
    failed: Sequence[str],
    branch: str | None,
    pr_url: str | None,
) -> tuple[Phase, PhaseLoop, str]:
    """The phase whose receipt counts now, the loop afterwards, and the next step."""
    project = _project()
    refuse_while_run(project)
    before = project.store.load()
    if needs_tests(before.phase):
        consent(project)
    filed = file_receipt(
        project,
        artifact=artifact,
        sha=sha,
        session=before.session_id,
        summary=summary,
        failed=failed,
        branch=branch,
        pr_url=pr_url,
    )
    if filed.reasons:
        raise NotVerified(
            f"the receipt of {before.phase} does not count: {'; '.join(filed.reasons)}",
            hint="Correct it, commit it, and file it again.",
        )
    return before.phase, filed.loop, said_after(filed.effects, filed.loop, project.settings)


def note_checkpoint(summary: str, failed: Sequence[str]) -> PhaseLoop:
    project = _project()
    return write_checkpoint(project, summary, failed, project.store.load().session_id).loop


def _project() -> Project:
    if is_attempt():
        raise NotTrusted(
            "this is an attempt of a loop: what it leaves in its folder is committed and filed for it",
            hint="Answer as you were asked to, with the path of what you made.",
        )
    return project_here()
