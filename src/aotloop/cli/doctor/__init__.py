"""The checks of `aot doctor`, one module for each subject; each returns findings and changes nothing."""

from __future__ import annotations

from aotloop.cli.doctor.agent_checks import agent_findings, fence_of
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.cli.doctor.machine_checks import (
    extra_findings,
    machine_findings,
    model_server_findings,
    other_machine_findings,
)
from aotloop.cli.doctor.project_checks import project_findings
from aotloop.cli.doctor.sandbox import sandbox_findings


def look_at_everything(state_file: str | None) -> list[Finding]:
    return [
        *machine_findings(),
        *project_findings(state_file),
        *agent_findings(state_file),
        *model_server_findings(),
        *other_machine_findings(state_file),
        *extra_findings(),
        *sandbox_findings(fence_of(state_file)),
    ]
