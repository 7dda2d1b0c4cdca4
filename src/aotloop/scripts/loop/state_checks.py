"""validate_state, check_gate: what is wrong with a state file, and whether its loop may start."""

from __future__ import annotations

from typing import Any

from aotloop.app.loops import open_store
from aotloop.app.preflight.gate import look_at_gate
from aotloop.errors import StateFileMissing
from aotloop.scripts.arguments import Usage
from aotloop.scripts.json_output import Script


def _validate_state(given: dict[str, Any]) -> dict[str, Any]:
    try:
        examination = open_store(given["state_file"]).examine()
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
        gate = look_at_gate(open_store(given["state_file"]))
    except StateFileMissing:
        return {"ready": False, "missing": ["state file"], "status": None, "warnings": []}
    return {
        "ready": gate.ready,
        "missing": list(gate.missing),
        "status": gate.status,
        "warnings": list(gate.warnings),
    }


VALIDATE_STATE = Script(Usage("Look for mistakes in the state file."), _validate_state, verdict="valid")
CHECK_GATE = Script(Usage("Whether the loop may start, and what is missing."), _check_gate, verdict="ready")
