"""Which script is where: the plugin's shims name one, and this table finds it without importing the others."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

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
    "align_goal": "aligning",
    "add_atom": "dag",
    "decompose_atom": "dag",
    "switch_or_branch": "dag",
    "fail_atom": "dag",
    "record_probe": "dag",
    "request_stop": "convergence",
    "request_redirect": "convergence",
    "apply_correction": "convergence",
    "enter_loop": "sessions",
    "integrate": "sessions",
    "take_back": "sessions",
    "record_judgement": "sessions",
    "ship": "shipping",
}


def run(name: str, argv: Sequence[str]) -> int:
    _import_msgspec_quickly()
    from aotloop.scripts.output import main  # noqa: PLC0415

    module = import_module(f"aotloop.scripts.{MODULES[name]}")
    return main(name, getattr(module, name.upper()), argv)


def _import_msgspec_quickly() -> None:
    """Where typing_extensions is installed msgspec takes it, for what `typing` has too; that is half a start-up."""
    hidden = "typing_extensions" not in sys.modules
    if hidden:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    import msgspec  # noqa: F401, PLC0415

    if hidden:
        del sys.modules["typing_extensions"]
