"""Which script is where: the plugin's shims name one, and this table finds it without importing the others."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from importlib import import_module

from aotloop.lean_imports import import_msgspec, import_pathlib

MODULES = {
    "read_state": "loop.state",
    "update_atom": "atoms.atom_status",
    "add_binding": "atoms.atom_status",
    "set_status": "loop.loop_status",
    "request_stop": "loop.loop_status",
    "verify_checklist": "loop.loop_status",
    "verify_command": "checks.single_checks",
    "verify_file": "checks.single_checks",
    "validate_state": "loop.state_checks",
    "check_gate": "loop.state_checks",
    "align_goal": "loop.align_goal",
    "add_atom": "atoms.dag",
    "decompose_atom": "atoms.dag",
    "switch_or_branch": "atoms.dag",
    "fail_atom": "atoms.attempt_results",
    "record_probe": "atoms.attempt_results",
    "request_redirect": "loop.corrections",
    "apply_correction": "loop.corrections",
    "enter_loop": "loop.enter_loop",
    "integrate": "atoms.integrate",
    "take_back": "atoms.integrate",
    "record_judgement": "checks.record_judgement",
    "ship": "ship.steps",
}


def run(name: str, argv: Sequence[str]) -> int:
    gc.disable()  # it would find nothing to collect, again and again
    import_pathlib()
    import_msgspec()
    from aotloop.scripts.json_output import main  # noqa: PLC0415

    module = import_module(f"aotloop.scripts.{MODULES[name]}")
    return main(name, getattr(module, name.upper()), argv)
