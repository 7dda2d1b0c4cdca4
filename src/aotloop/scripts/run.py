"""Which script is where: the shims of the plugin name a script, and this table finds it without importing the others."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from aotloop.scripts.output import main

MODULES = {
    "read_state": "state",
    "update_atom": "state",
    "add_binding": "state",
    "set_status": "state",
    "verify_command": "checks",
    "verify_file": "checks",
    "verify_checklist": "checks",
    "validate_state": "checks",
    "check_gate": "checks",
    "add_atom": "dag",
    "decompose_atom": "dag",
    "switch_or_branch": "dag",
    "fail_atom": "dag",
    "request_stop": "convergence",
}


def run(name: str, argv: Sequence[str]) -> int:
    module = import_module(f"aotloop.scripts.{MODULES[name]}")
    return main(name, getattr(module, name.upper()), argv)
