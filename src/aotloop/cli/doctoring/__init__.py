"""What `aot doctor` looks at. One module for each subject; each gives findings and changes nothing."""

from __future__ import annotations

from aotloop.cli.doctoring.agents import agent_findings
from aotloop.cli.doctoring.extras import extra_findings
from aotloop.cli.doctoring.findings import Finding
from aotloop.cli.doctoring.machine import machine_findings
from aotloop.cli.doctoring.project import project_findings
from aotloop.cli.doctoring.sandbox import sandbox_findings


def look_at_everything(state_file: str | None) -> list[Finding]:
    return [
        *machine_findings(),
        *project_findings(state_file),
        *agent_findings(state_file),
        *extra_findings(),
        *sandbox_findings(),
    ]
