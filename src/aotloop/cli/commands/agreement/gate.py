"""`aot gate`: it says whether the loop may start, and which items already hold before any work ("red first")."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from aotloop.app.loops import CHECK_TIMEOUT, open_store
from aotloop.app.preflight.gate import look_at_gate
from aotloop.app.verify import verify
from aotloop.checks.results import Report
from aotloop.cli.ui.check_results import already_holding, seen, unable_to_run
from aotloop.cli.ui.consent_dialog import require_consent
from aotloop.cli.ui.options import AMOUNT, json_option, state_file_option, yes_option
from aotloop.cli.ui.output import bullet_list, mark, named, say_json, say_next, shortest, tell
from aotloop.cli.ui.progress_line import progress_line
from aotloop.core.gate import Gate
from aotloop.errors import NotTrusted
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose

NO_FILE = "state file"


@click.command(
    "gate",
    epilog="""\b
Examples:
  aot gate                 ask before running the base case
  aot gate --yes --json    in scripts
  aot gate --no-run        only read the file
""",
)
@state_file_option
@json_option
@yes_option
@click.option("--no-run", is_flag=True, help="Do not run the base case.")
@click.option("--timeout", type=AMOUNT, default=CHECK_TIMEOUT, show_default=True, help="Seconds for each command.")
@click.pass_context
def command(ctx: click.Context, state_file: str | None, as_json: bool, yes: bool, no_run: bool, timeout: float) -> None:
    """Say whether the loop may start: the objective is agreed, the file is valid, the loop has not begun.

    Then aot runs the base case once. Before any work it should fail: an item that already holds may prove nothing, or
    may be inverted. Exits with 0 if the loop may start, else with 1.
    """
    store = open_store(state_file)
    gate = look_at_gate(store)
    remedies: list[str] = []
    is_hindered = False
    if gate.ready:
        from aotloop.app.preflight.workplace import obstacles  # noqa: PLC0415 - it loads the agents

        found = list(obstacles(store))
        gate = replace(gate, warnings=(*gate.warnings, *map(str, found)))
        remedies = [finding.command for finding in found if finding.command is not None]
        is_hindered = any(finding.is_refused for finding in found)
    report, unrun = None, "the loop may not start yet"
    if gate.ready:
        report, unrun = _red_first(store, yes=yes, no_run=no_run, timeout=timeout)
    if as_json:
        say_json(_data(gate, report, unrun))
    else:
        _tell(gate, report, unrun, is_hindered=is_hindered)
        say_next(*remedies, *_next_steps(gate, store))
    ctx.exit(0 if gate.ready else 1)


def _red_first(store: Store, *, yes: bool, no_run: bool, timeout: float) -> tuple[Report | None, str]:
    if no_run:
        return None, "as you asked"
    try:
        permit = require_consent(store, yes=yes)
    except NotTrusted:
        return None, "its commands have not been accepted; --yes accepts them"
    with progress_line() as on_progress:
        done = verify(store, timeout=timeout, on_progress=on_progress, record=False, permit=permit)
    return done.report, ""


def _data(gate: Gate, report: Report | None, unrun: str) -> dict[str, Any]:
    return {
        "ready": gate.ready,
        "missing": list(gate.missing),
        "status": gate.status,
        "warnings": list(gate.warnings),
        "base_case": None if report is None else report.as_data(),
        "not_run": unrun or None,
        "already_holding": already_holding(report),
    }


def _tell(gate: Gate, report: Report | None, unrun: str, *, is_hindered: bool) -> None:
    """`is_hindered`: the file is ready, but `aot run` refuses to work in this place."""
    status = f" (status: {gate.status})" if gate.status is not None else ""
    ready = "the objective is ready, but `aot run` needs this first" if is_hindered else "ready to start"
    click.echo(f"{mark(gate.ready)} {ready if gate.ready else 'not ready'}{status}{':' * is_hindered}")
    bullet_list([_lacking(prose(problem)) for problem in gate.missing], fg="red")
    bullet_list([prose(problem) for problem in gate.warnings], fg="yellow")
    if gate.ready:
        tell(seen(report, unrun), head="  ")
    bullet_list([prose(item) for item in (*unable_to_run(report), *already_holding(report))], fg="yellow")


def _lacking(what: str) -> str:
    """Names a missing key or file as missing; a full sentence is returned unchanged."""
    return f"missing: {what}" if " " not in what or what == NO_FILE else what


def _next_steps(gate: Gate, store: Store) -> list[str]:
    if gate.ready:
        return ["aot run", "aot graph"]
    if gate.missing == (NO_FILE,):
        return ["aot align"]
    if gate.status in ("running", "completed"):
        return ["aot status"]
    return [f"edit {named(shortest(store.path))}", "aot validate"]
