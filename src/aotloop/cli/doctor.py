"""`aot doctor`: what is there, what is missing, and for each problem what to do about it."""

from __future__ import annotations

from typing import Any

import click

from aotloop.cli.doctoring import look_at_everything
from aotloop.cli.doctoring.findings import Finding
from aotloop.cli.doctoring.project import STATE_FILE
from aotloop.cli.foreign import prose
from aotloop.cli.options import json_option, state_file_option
from aotloop.cli.output import faint, heading, mark, say_json, say_next, tell


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
    """Look at git, agents, configuration, the state file and what earlier runs left; say what to do about problems.

    Clients that are found are asked for their version, and for nothing else: no network, no costs. Changes nothing.
    Exits with 1 if something keeps loops from running here.
    """
    findings = look_at_everything(state_file)
    broken = [one for one in findings if one.ok is False]
    if as_json:
        say_json({"ok": not broken, "findings": [_data(one) for one in findings]})
    else:
        _tell(findings)
        say_next(*_next_steps(findings))
    ctx.exit(1 if broken else 0)


def _next_steps(findings: list[Finding]) -> list[str]:
    if any(one.ok is False for one in findings):
        return ["mend what is marked", "aot doctor"]
    has_loop = any(one.what == STATE_FILE and one.ok for one in findings)
    return ["aot run"] if has_loop else ["aot align"]


def _data(finding: Finding) -> dict[str, Any]:
    said = {"about": finding.about, "what": finding.what, "ok": finding.ok, "said": finding.said, "fix": finding.fix}
    return {**said, "facts": dict(finding.facts)} if finding.facts else said


def _tell(findings: list[Finding]) -> None:
    about = ""
    for one in findings:
        if one.about != about:
            about = one.about
            tell(about, style=heading)
        tell(f"{prose(one.what)}: {prose(one.said)}", head=f"  {mark(one.ok)} ")
        if one.fix is not None:
            tell(prose(one.fix), head="      ", style=faint)
