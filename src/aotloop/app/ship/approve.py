"""What only a person decides about a feature: its acceptance tests, and leaving a phase without its receipt."""

from __future__ import annotations

from collections.abc import Callable

from aotloop.app.ship.feature_access import project_here, refuse_agents, refuse_while_run
from aotloop.core.phases.model import Phase
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import NotVerified
from aotloop.phases.driver.refused_work import withdraw_receipt
from aotloop.phases.project import Project
from aotloop.phases.receipts import Filed, approve, force, refuse

Consent = Callable[[Project], None]
"""Asks the person whether the acceptance tests may be run; raises NotTrusted if they may not."""


def approve_tests(consent: Consent, project: Project | None = None) -> Filed:
    """The tests run once more: they must be unchanged since they were shown, and fail. `project` None: the one here."""
    project = _project("approves", project)
    if project.store.load().status == "waiting":  # the repository of another person may contain such a loop
        consent(project)
    filed = approve(project)
    if filed.reasons:
        raise NotVerified(
            f"these tests cannot be agreed to: {'; '.join(filed.reasons)}",
            hint="`aot ship` continues: an agent writes new ones.",
        )
    return filed


def refuse_tests(reason: str, project: Project | None = None) -> Filed:
    """The commit of tests that aotloop filed leaves the branch; the next turn begins with them, and with the reason."""
    project = _project("approves", project)
    loop = project.store.load()
    filed = refuse(project, reason)
    if (receipt := receipt_of(loop, "spec_test")) is not None:
        withdraw_receipt(project, loop, receipt)
    return filed


def leave_phase(reason: str, consent: Consent) -> tuple[Phase, Filed]:
    """Leaves the phase by force, and records it; returns the phase."""
    project = _project("leaves a phase by force")
    before = project.store.load().phase
    if before == "test":
        consent(project)
    return before, force(project, reason)


def _project(what: str, project: Project | None = None) -> Project:
    refuse_agents(what)
    project = project if project is not None else project_here()
    refuse_while_run(project)
    return project
