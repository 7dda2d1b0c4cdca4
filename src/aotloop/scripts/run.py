"""Which script is where: the plugin's shims name one, and this table finds it without importing the others."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from aotloop.lean_imports import standing_in

MODULES = {
    "read_state": "state",
    "update_atom": "atom_status",
    "add_binding": "atom_status",
    "set_status": "loop_status",
    "request_stop": "loop_status",
    "verify_checklist": "loop_status",
    "verify_command": "single_checks",
    "verify_file": "single_checks",
    "validate_state": "state_checks",
    "check_gate": "state_checks",
    "align_goal": "align_goal",
    "add_atom": "dag",
    "decompose_atom": "dag",
    "switch_or_branch": "dag",
    "fail_atom": "attempt_results",
    "record_probe": "attempt_results",
    "request_redirect": "corrections",
    "apply_correction": "corrections",
    "enter_loop": "enter_loop",
    "integrate": "integrate",
    "take_back": "integrate",
    "record_judgement": "record_judgement",
    "ship": "ship.steps",
}


def run(name: str, argv: Sequence[str]) -> int:
    _import_msgspec_quickly()
    from aotloop.scripts.json_output import main  # noqa: PLC0415

    module = import_module(f"aotloop.scripts.{MODULES[name]}")
    return main(name, getattr(module, name.upper()), argv)


def _import_msgspec_quickly() -> None:
    """Where typing_extensions is installed msgspec takes it, for what `typing` has too; that is half a start-up."""
    with standing_in("typing_extensions"):
        import msgspec  # noqa: F401, PLC0415
