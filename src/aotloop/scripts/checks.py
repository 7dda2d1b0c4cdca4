"""verify_command, verify_file, verify_checklist, validate_state, check_gate: what holds, and what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop import app
from aotloop.errors import StateFileMissing
from aotloop.scripts.arguments import Option, Usage
from aotloop.scripts.output import Script


def _verify_command(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.verify.commands import check_command  # noqa: PLC0415

    result = check_command(
        given["command"], root=Path.cwd(), timeout=given["timeout"], expect_fail=given["expect_fail"]
    )
    return {
        "passed": result.passed,
        "type": result.kind,
        "command": given["command"],
        "exit_code": result.exit_code,
        "evidence": result.evidence,
        "output_summary": result.output,
    }


def _verify_file(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.verify.files import check_file  # noqa: PLC0415

    result = check_file(given["path"], root=Path.cwd(), expect_missing=given["expect_missing"])
    return {
        "passed": result.passed,
        "type": result.kind,
        "path": given["path"],
        "exists": result.exists,
        "evidence": result.evidence,
    }


def _verify_checklist(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.consent import only_accepted  # noqa: PLC0415
    from aotloop.session.judging import judge_of  # noqa: PLC0415

    store = app.open_store(given["state_file"])
    done = app.verify(store, timeout=given["timeout"], permit=only_accepted(store), judge=judge_of(store))
    data: dict[str, Any] = done.report.as_data()
    return data if done.unrecorded is None else {**data, "unrecorded": done.unrecorded}


def _validate_state(given: dict[str, Any]) -> dict[str, Any]:
    try:
        examination = app.open_store(given["state_file"]).examine()
    except StateFileMissing as error:
        return {"valid": False, "errors": [error.message], "warnings": [], "atom_count": 0}
    return {
        "valid": not examination.errors,
        "errors": [str(finding) for finding in examination.errors],
        "warnings": [str(finding) for finding in examination.warnings],
        "atom_count": len(examination.loop.atoms) if examination.loop is not None else 0,
    }


def _check_gate(given: dict[str, Any]) -> dict[str, Any]:
    try:
        gate = app.gate(app.open_store(given["state_file"]))
    except StateFileMissing:
        return {"ready": False, "missing": ["state file"], "status": None, "warnings": []}
    return {
        "ready": gate.ready,
        "missing": list(gate.missing),
        "status": gate.status,
        "warnings": list(gate.warnings),
    }


_TIMEOUT = Option(float, app.CHECK_TIMEOUT)

VERIFY_COMMAND = Script(
    Usage(
        "Run a command; it passes if it exits with 0 (or, with --expect-fail, with anything else).",
        ("command",),
        {"--expect-fail": Option(None), "--timeout": _TIMEOUT},
    ),
    _verify_command,
    verdict="passed",
)
VERIFY_FILE = Script(
    Usage("Look for a file, a directory or a glob.", ("path",), {"--expect-missing": Option(None)}),
    _verify_file,
    verdict="passed",
)
VERIFY_CHECKLIST = Script(
    Usage("Evaluate the whole base case and record the verdict.", (), {"--timeout": _TIMEOUT}),
    _verify_checklist,
    verdict="passed",
)
VALIDATE_STATE = Script(Usage("Look for mistakes in the state file."), _validate_state, verdict="valid")
CHECK_GATE = Script(Usage("Whether the loop may start, and what is missing."), _check_gate, verdict="ready")
