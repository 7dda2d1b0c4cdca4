"""Targets of the fuzzer, with the conditions on their results; every exception of a target is a finding.

A target gets bytes and returns nothing. The code under test refuses input with its own error; only that error is caught
here.
"""

from __future__ import annotations

from collections.abc import Callable

from faults.fuzzing import answering, calling, filing

TARGETS: dict[str, Callable[[bytes], None]] = {
    "state_file": filing.state_file,
    "state_file_changed": filing.state_file_changed,
    "phase_file": filing.phase_file,
    "strict_json": filing.strict_json_text,
    "config": filing.config,
    "plan": filing.plan,
    "answer": answering.answer,
    "json_lines": answering.json_lines,
    "codex_events": answering.codex_events,
    "acp_updates": answering.acp_updates,
    "claude_events": answering.claude_events,
    "hook_payload": calling.hook_payload,
    "hook_shim": calling.hook_shim,
    "shell_writes": calling.shell_writes,
}
