"""`aot doctor`: it shows what is present, what is missing, and how to solve each problem."""

from __future__ import annotations

from typing import Any

import click

from aotloop.cli.doctor import look_at_everything
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.cli.doctor.project_checks import STATE_FILE
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import faint, heading, mark, say_json, say_next, tell
from aotloop.text.sanitize import prose


@click.command(
    "doctor",
    epilog="""\b
Examples:
  aot doctor
  aot doctor --json | jq '.findings[] | select(.ok == false)'
  aot doctor --json | jq '.findings[] | select(.facts) | {what} + .facts'
""",
)
@state_file_option
@json_option
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool) -> None:
    """Find problems with git, agents, configuration, the state file and leftovers of runs; suggest a fix for each.

    Installed clients are asked only for their version, and servers on the usual ports of this machine only for their
    models: no other network, no costs. The command changes nothing.
    Exits with 1 if a problem prevents loops from running here.
    """
    findings = look_at_everything(state_file)
    broken = [finding for finding in findings if finding.ok is False]
    if as_json:
        say_json({"ok": not broken, "findings": [_data(finding) for finding in findings]})
    else:
        _tell(findings)
        say_next(*_next_steps(findings))
    ctx.exit(1 if broken else 0)


def _next_steps(findings: list[Finding]) -> list[str]:
    if any(finding.ok is False for finding in findings):
        return ["fix the problems marked above", "aot doctor"]
    has_loop = any(finding.subject == STATE_FILE and finding.ok for finding in findings)
    return ["aot run"] if has_loop else ["aot align"]


def _data(finding: Finding) -> dict[str, Any]:
    data = {
        "about": finding.about,
        "what": finding.subject,
        "ok": finding.ok,
        "said": finding.result,
        "fix": finding.fix,
    }
    return {**data, "facts": dict(finding.facts)} if finding.facts else data


def _tell(findings: list[Finding]) -> None:
    about = ""
    for finding in findings:
        if finding.about != about:
            about = finding.about
            tell(about, style=heading)
        tell(f"{prose(finding.subject)}: {prose(finding.result)}", head=f"  {mark(finding.ok)} ")
        if finding.fix is not None:
            tell(prose(finding.fix), head="      ", style=faint)
